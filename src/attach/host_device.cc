// SPDX-License-Identifier: Apache-2.0
// Type host-device: an interface of the host, as it is.
//
// Keys: one of device (name), hwaddr, pciBusID or deviceID; where the network has a resource, the VF of the
// pool.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_host_device(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  for (const char* key : {"kernelpath", "dpdkMode"})
    if (keys.has(key))
      return fail(keys.unsupported(fmt::format("{} is not supported; use device, hwaddr or pciBusID", key)));
  std::optional<std::string> name = TRY(keys.text("device"));
  wish.host_mac = TRY(keys.mac("hwaddr"));
  bool by_address = wanted.device.has_value() || wanted.selection.device_id.present || keys.has("pciBusID") ||
                    keys.has("deviceID");
  if (int{name.has_value()} + int{wish.host_mac.has_value()} + int{by_address} != 1)
    return fail(keys.invalid("name the interface by exactly one of device, hwaddr, pciBusID or a resource"));
  if (by_address) return read_vf(keys, wanted, wish);
  wish.host_link = name.value_or("");
  return {};
}

}  // namespace railbed::attach
