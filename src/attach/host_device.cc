// SPDX-License-Identifier: Apache-2.0
// Type host-device: an interface of the host, as it is.
//
// Keys: one of device (name), hwaddr, kernelpath, pciBusID or deviceID; where the network has a resource, the
// VF of the pool. dpdkMode says nothing that the device's driver does not say.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_host_device(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  std::optional<std::string> name = TRY(keys.text("device"));
  std::optional<std::string> path = TRY(keys.text("kernelpath"));
  wish.host_mac = TRY(keys.mac("hwaddr"));
  bool by_address = wanted.device.has_value() || wanted.selection.device_id.present ||
                    TRY(keys.text("pciBusID")).has_value() || TRY(keys.text("deviceID")).has_value();
  if (int{name.has_value()} + int{path.has_value()} + int{wish.host_mac.has_value()} + int{by_address} != 1)
    return fail(
        keys.invalid("name the interface by exactly one of device, hwaddr, kernelpath, pciBusID or a resource"));
  if (by_address) return read_vf(keys, wanted, wish);
  if (path.has_value()) {
    if (!path->starts_with("/sys/devices/") || path->find("..") != std::string::npos)
      return fail(keys.invalid(fmt::format("kernelpath is \"{}\", but must be below /sys/devices/", *path)));
    wish.kernel_path = *path;
  }
  wish.host_link = name.value_or("");
  return {};
}

}  // namespace railbed::attach
