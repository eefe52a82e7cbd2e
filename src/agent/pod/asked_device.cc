// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/asked_device.h"

#include <algorithm>

#include "api/network_demands.h"

namespace railbed::agent {
namespace {

constexpr const char* kCapability = "deviceID";

std::unexpected<Error> refuse(const Delegate& network, const std::string& device, const std::string& why,
                              std::string hint) {
  return fail(
      Error{.code = Code::kInvalid,
            .message = fmt::format("network {}: the pod requests device {} by deviceID, {}", network.name, device, why),
            .hint = std::move(hint)});
}

// What the host does with the interfaces of the device; empty: nothing.
Result<std::string> use_by_host(os::Kernel& kernel, const std::vector<std::string>& interfaces) {
  const std::unique_ptr<os::LinkPort> links = TRY(kernel.links());
  std::vector<IfIndex> ours;
  for (const os::Link& link : TRY(links->list(os::WithVfs::kNo)))
    if (std::ranges::find(interfaces, link.name.value) != interfaces.end()) ours.push_back(link.index);
  const auto is_ours = [&](IfIndex link) { return std::ranges::find(ours, link) != ours.end(); };
  for (const Route& route : TRY(links->routes()))
    if (route.is_default() && is_ours(route.link)) return std::string("which has the host's default route");
  for (const os::LinkAddress& one : TRY(links->addresses()))
    if (is_ours(one.link) && !one.prefix.address.to_gid().is_link_local())
      return fmt::format("which has the host's address {}", one.prefix.address);
  return std::string();
}

}  // namespace

Result<void> check_asked_device(os::Kernel& kernel, const std::vector<DeviceSource*>& sources, const Delegate& network,
                                const std::string& device) {
  if (!std::ranges::any_of(network.list.plugins,
                           [](const doc::Value& plugin) { return api::declares(plugin, kCapability); }))
    return refuse(network, device, "but the network has no resource",
                  fmt::format("add k8s.v1.cni.cncf.io/resourceName to the definition, and the resource to the pod's "
                              "limits; or \"capabilities\": {{\"{}\": true}} to its plugin to let pods choose",
                              kCapability));
  const Result<PciAddress> address = PciAddress::parse(device);
  if (!address.has_value())
    return refuse(network, device, "which is not a PCI address", "use an address such as 0000:3b:00.2");
  const std::string folder = fmt::format("/sys/bus/pci/devices/{}", *address);
  const std::string hint = "request a VF or NIC that is not used otherwise";
  if (!kernel.files().exists(folder)) return refuse(network, device, "which is not on this node", hint);
  if (kernel.files().exists(folder + "/sriov_totalvfs"))
    return refuse(network, device, "which is a PF; all users of its VFs depend on it", hint);
  for (DeviceSource* source : sources)
    if (TRY(source->offers(*address)))
      return refuse(network, device, "which belongs to a resource", "use a network of that resource");
  const Result<std::vector<std::string>> interfaces = kernel.files().list(folder + "/net");
  if (!interfaces.has_value()) return {};
  if (const std::string use = TRY(use_by_host(kernel, *interfaces)); !use.empty())
    return refuse(network, device, use, hint);
  return {};
}

}  // namespace railbed::agent
