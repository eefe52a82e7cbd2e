// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_devices.h"

#include <algorithm>

#include "agent/pod/asked_device.h"
#include "node/resolved.h"
#include "state/sandbox.h"

namespace railbed::agent {

// set_device() changes the selections, and devices are chosen twice.
SandboxDevices::SandboxDevices(Meta& meta, const std::string& key, PodNetworks& pod)
    : meta_(meta), key_(key), pod_(pod) {
  for (const Delegate& network : pod_.networks)
    asked_.push_back(network.selection.device_id.present ? *network.selection.device_id : "");
}

void SandboxDevices::ask() {
  if (std::ranges::all_of(pod_.networks, [](const Delegate& network) { return network.resource.empty(); })) return;
  for (DeviceSource* source : meta_.devices()) given_.push_back(source->given_to(pod_.pod));
}

Result<void> SandboxDevices::choose(Engine::Turn& turn) {
  plan::InUse in_use = TRY(node::in_use_by(turn.store()));
  std::erase_if(in_use, [&](const auto& one) { return one.second == key_; });
  for (auto& [device, holder] : in_use)
    if (std::string pod = state::Sandbox::of_key(holder).pod; !pod.empty()) holder = pod;
  struct References {
    std::vector<Delegate*> networks;
    std::vector<std::string> asked;
  };
  std::map<std::string, References> references;
  for (size_t i = 0; i < pod_.networks.size(); ++i) {
    Delegate& network = pod_.networks[i];
    if (!network.resource.empty()) {
      references[network.resource].networks.push_back(&network);
      references[network.resource].asked.push_back(asked_[i]);
    } else if (!asked_[i].empty()) {
      TRY(check_asked_device(turn.kernel(), meta_.devices(), network, asked_[i]));
      network.set_device({asked_[i], std::nullopt});
    }
  }
  for (auto& [resource, those] : references) {
    std::vector<Device> devices = TRY(devices_of(resource, those.asked, in_use));
    for (size_t i = 0; i < those.networks.size(); ++i)
      // One that an executed plugin was given before stays with it.
      if (!those.networks[i]->device.has_value() || those.networks[i]->native())
        those.networks[i]->set_device(devices[i]);
  }
  // An executed plugin would take one that is being changed; our own refuse it themselves.
  for (const Delegate& network : pod_.networks) {
    const auto address = PciAddress::parse(network.device.has_value() ? network.device->id : "");
    if (address.has_value() && turn.is_changing(*address))
      return cni::fail_with(cni::kTryAgainLater,
                            fmt::format("network {}: device {} is being changed for this node's SriovNetworkNodeState",
                                        network.name, *address),
                            "the runtime will retry; progress is in the SriovNetworkNodeState status");
  }
  return {};
}

Result<std::vector<Device>> SandboxDevices::devices_of(const std::string& resource,
                                                       const std::vector<std::string>& asked,
                                                       const plan::InUse& in_use) {
  std::string unknown;
  for (size_t i = 0; i < meta_.devices().size(); ++i) {
    Result<std::vector<Device>> devices = devices_from(i, {pod_.pod, resource, asked}, in_use);
    if (devices.has_value()) return *std::move(devices);
    if (devices.error().code != Code::kNotFound) return fail(devices.error());
    unknown += (unknown.empty() ? "" : "; ") + devices.error().story();
  }
  return cni::fail_with(cni::kExhausted,
                        fmt::format("pod {} has no device of {}: {}", pod_.pod.key(), resource, unknown),
                        without_device(resource));
}

// What to do for a device that no source has.
std::string SandboxDevices::without_device(const std::string& resource) const {
  if (!pod_.pod.requested.has_value()) return "request it in the pod's resources, or add a policy that creates its VFs";
  if (pod_.pod.requested->contains(resource))
    return fmt::format(
        "its containers request {}, but kubelet has allocated none; see the logs of kubelet and the device plugin",
        resource);
  return fmt::format(
      "no container of the pod requests it: add {} to the limits of one, once for each network that uses it; an "
      "injector of the SR-IOV operator that does this has not seen this pod",
      resource);
}

Result<std::vector<Device>> SandboxDevices::devices_from(size_t source, const DeviceRequest& request,
                                                         const plan::InUse& in_use) {
  const Result<kubelet::GivenDevices>& given = given_.at(source);
  if (!given.has_value()) return fail(given.error());
  return meta_.devices()[source]->devices(request, *given, in_use);
}

Result<void> SandboxDevices::describe() {
  for (Delegate& network : pod_.networks) {
    if (!network.device.has_value() || network.device_info_path.empty()) continue;
    TRY(meta_.device_info().copy(network.resource, network.device->id, network.device_info_path));
    network.capability_args["CNIDeviceInfoFile"] = network.device_info_path;
  }
  return {};
}

doc::Value SandboxDevices::info_of(const Delegate& network) const {
  return network.device_info_path.empty() ? doc::Value() : meta_.device_info().read(network.device_info_path);
}

}  // namespace railbed::agent
