// SPDX-License-Identifier: Apache-2.0
// Type dummy: an interface that leads nowhere, for addresses that a pod has and that are not reachable through it.
//
// Keys: ipam, without which it would be of no use; the original refuses that, too. A pod's mac is set, which the
// original does not do.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_dummy(const Keys&, const InterfaceRequest&, InterfaceSpec& spec) {
  spec.way = Way::kMake;
  spec.without_parent = true;
  return {};
}

Result<DetachReport> detach_original_dummy(Original& original) {
  return original.remove_made("dummy");
}

}  // namespace railbed::attach
