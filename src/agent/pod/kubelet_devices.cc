// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/kubelet_devices.h"

#include <fmt/ranges.h>

namespace railbed::agent {

constexpr std::chrono::seconds kAnswer{2};

Result<kubelet::GivenDevices> KubeletDevices::given_to(const PodInfo& pod) {
  return devices_.of({pod.ns, pod.name, pod.uid}, std::chrono::steady_clock::now() + kAnswer)
      .context("asking the kubelet for the devices of pod {}", pod.key());
}

Result<std::vector<Device>> KubeletDevices::devices(const DeviceRequest& request, const kubelet::GivenDevices& given,
                                                    const plan::InUse&) {
  const auto& [pod, resource, asked] = request;
  const size_t count = asked.size();
  auto found = given.find(resource);
  if (found == given.end()) return fail(Code::kNotFound, "kubelet gave pod {} no device of {}", pod.key(), resource);
  if (found->second.size() < count)
    return fail(Error{.code = Code::kExhausted,
                      .message = fmt::format("pod {} has {} device(s) of {}, but its networks need {}", pod.key(),
                                             found->second.size(), resource, count),
                      .hint = "request as many in the pod's resources as it has networks of that resource"});
  std::set<std::string> left = found->second;
  for (const std::string& id : asked) {
    if (!id.empty() && left.erase(id) == 0)
      return fail(Error{.code = Code::kInvalid,
                        .message = fmt::format("pod {} requests device {} by deviceID; of {} the kubelet allocated {}",
                                               pod.key(), id, resource, fmt::join(found->second, ", ")),
                        .hint = "request one of these, or remove deviceID"});
  }
  std::vector<Device> devices;
  auto next = left.begin();
  for (const std::string& one : asked) {
    const std::string id = one.empty() ? *next++ : one;
    devices.push_back({id, known_ ? TRY(known_(id)) : std::nullopt});
  }
  return devices;
}

Result<bool> KubeletDevices::offers(const PciAddress& device) {
  return known_ && TRY(known_(device.to_string())).has_value();
}

}  // namespace railbed::agent
