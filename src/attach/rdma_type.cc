// SPDX-License-Identifier: Apache-2.0
// Type rdma, chained: the device's RDMA side goes with it.
//
// It always does: where namespaces do not share RDMA devices they are moved, where they do the pod sees them
// anyway. The type says that there must be one, and that the pod can open it.
//
// Keys: deviceID (absent: the device of the interface).
#include "attach/json_fields.h"
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_rdma(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  if (spec.way == Way::kMake)
    return fail(
        keys.invalid("virtual interfaces have no RDMA device; chain the plugin after sriov, ib-sriov or host-device"));
  spec.rdma = true;
  spec.rdma_required = true;
  if (spec.way != Way::kExisting) return {};
  if (request.device.has_value()) {
    spec.device = request.device->address;
    return {};
  }
  std::optional<std::string> id;
  if (request.selection.device_id.present) id = request.selection.device_id.value;
  if (!id.has_value()) id = TRY(keys.text("deviceID"));
  return id.has_value() ? read_device_id(keys, *id, spec) : Result<void>{};
}

Result<DetachReport> detach_original_rdma(Original& original) {
  auto file = TRY(original.left_file("/var/lib/cni/rdma",
                                     text_in(original.interface().config, "name") + "-" + original.file_name()));
  if (!file.has_value() || !original.has_pod()) return DetachReport{};  // the kernel has moved it
  Before before = original.change_of(original.in_pod());
  take_rdma(*file, before);
  return original.restore_all(before);
}

}  // namespace railbed::attach
