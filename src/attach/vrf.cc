// SPDX-License-Identifier: Apache-2.0
// Type vrf, chained: the interface becomes a port of a VRF of the pod, which is made where it is not there.
//
// Keys: vrfname, table (absent: the lowest that no VRF of the pod has).
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_vrf(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  std::optional<std::string> name = TRY(keys.text("vrfname"));
  if (!name.has_value()) return fail(keys.invalid("vrfname says which VRF; it is not there"));
  Result<IfName> parsed = IfName::parse(*name);
  if (!parsed.has_value()) return fail(keys.invalid(fmt::format("vrfname: {}", parsed.error().message)));
  if (*name == wish.interface)
    return fail(keys.invalid(fmt::format("vrfname {} is the name of the interface itself", *name)));
  wish.vrf = VrfWanted{*name, TRY(keys.number("table", 0, 0x7fffffff)).value_or(0)};
  return {};
}

}  // namespace railbed::attach
