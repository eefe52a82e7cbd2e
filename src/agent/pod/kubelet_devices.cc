// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/kubelet_devices.h"

namespace railbed::agent {

constexpr std::chrono::seconds kAnswer{2};

Result<kubelet::GivenDevices> KubeletDevices::given_to(const PodInfo& pod) {
  return devices_.of({pod.ns, pod.name, pod.uid}, std::chrono::steady_clock::now() + kAnswer)
      .context("asking the kubelet for the devices of pod {}", pod.key());
}

Result<std::vector<Device>> KubeletDevices::devices(const DeviceRequest& request, const kubelet::GivenDevices& given,
                                                    const plan::InUse&) {
  const auto& [pod, resource, count] = request;
  auto found = given.find(resource);
  if (found == given.end()) return fail(Code::kNotFound, "kubelet gave pod {} no device of {}", pod.key(), resource);
  if (found->second.size() < count)
    return fail(Error{.code = Code::kExhausted,
                      .message = fmt::format("pod {} has {} device(s) of {}, and its networks ask for {}", pod.key(),
                                             found->second.size(), resource, count),
                      .hint = "ask for as many in the pod's resources as it has networks of that resource"});
  std::vector<Device> devices;
  for (const std::string& id : found->second)
    if (devices.size() < count) devices.push_back({id, known_ ? TRY(known_(id)) : std::nullopt});
  return devices;
}

}  // namespace railbed::agent
