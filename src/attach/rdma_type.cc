// SPDX-License-Identifier: Apache-2.0
// Type rdma, chained: the device's RDMA side goes with it.
//
// It always does: where namespaces do not share RDMA devices it is moved, where they do the pod sees it
// anyway. The type only says that there must be one.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_rdma(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  if (wish.way == Way::kMake)
    return fail(keys.invalid(
        "a virtual interface has no RDMA device; chain it after sriov, ib-sriov or host-device"));
  wish.rdma = true;
  wish.rdma_required = true;
  return {};
}

}  // namespace railbed::attach
