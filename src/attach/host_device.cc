// SPDX-License-Identifier: Apache-2.0
// Type host-device: an interface of the host, as it is.
//
// Keys: one of device (name), hwaddr, kernelpath, pciBusID or deviceID; where the network has a resource, the
// VF of the pool. dpdkMode says nothing that the device's driver does not say.
#include "attach/json_fields.h"
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_host_device(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  std::optional<std::string> name = TRY(keys.text("device"));
  std::optional<std::string> path = TRY(keys.text("kernelpath"));
  spec.host_mac = TRY(keys.mac("hwaddr"));
  bool by_address = request.device.has_value() || request.selection.device_id.present ||
                    TRY(keys.text("pciBusID")).has_value() || TRY(keys.text("deviceID")).has_value();
  if (int{name.has_value()} + int{path.has_value()} + int{spec.host_mac.has_value()} + int{by_address} != 1)
    return fail(
        keys.invalid("name the interface by exactly one of device, hwaddr, kernelpath, pciBusID or a resource"));
  if (by_address) return read_vf(keys, request, spec);
  spec.kernel_path = path.value_or("");
  spec.host_link = name.value_or("");
  return {};
}

namespace {

// Where the pod's namespace has ended, its device is at home, under the pod's name. A name and an alias alone prove
// nothing, since the host's own interfaces may have them: the configuration must name that very device.
Result<const os::Link*> at_home(Original& original) {
  if (original.has_pod()) return nullptr;
  const os::Link* link = TRY(original.host().by_name(original.interface().name.value));
  if (link == nullptr || link->alias.empty() || link->alias == link->name.value) return nullptr;
  const std::string address = text_in(original.interface().config, "pciBusID");
  const bool named = link->alias == text_in(original.interface().config, "device") ||
                     (!address.empty() && link->parent_bus == "pci" && link->parent_device == address);
  return named ? link : nullptr;
}

}  // namespace

// The alias is its name in the host's namespace.
Result<DetachReport> detach_original_host_device(Original& original) {
  const os::Link* link = original.in_pod();
  if (link == nullptr) link = TRY(at_home(original));
  if (link == nullptr || link->name.value == "lo") return DetachReport{};
  // A virtual one without an alias is the pod's own: every version of the original writes it.
  if (link->alias.empty() && link->parent_device.empty()) return DetachReport{};
  if (TRY(original.is_ours(link->parent_device.empty() ? link->alias : link->parent_device))) return DetachReport{};
  Before before = now_of(*link);
  std::string home = link->alias.empty() ? text_in(original.interface().config, "device") : link->alias;
  if (IfName::parse(home).has_value()) before.name = home;
  if (link->parent_bus == "pci") before.device = TRY(PciAddress::parse(link->parent_device));
  return original.restore_all(before);
}

}  // namespace railbed::attach
