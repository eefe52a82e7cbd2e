// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod_resources.h"

namespace railbed::kubelet {
namespace {

void add(const GivenDevices& more, GivenDevices& all) {
  for (const auto& [resource, ids] : more) all[resource].insert(ids.begin(), ids.end());
}

void add_vfs(const GivenDevices& devices, const std::string& holder, AllocatedVfs& all) {
  for (const auto& [resource, ids] : devices)
    for (const std::string& id : ids) {
      const Result<PciAddress> vf = PciAddress::parse(id);
      if (!vf.has_value()) continue;
      all.pods.try_emplace(*vf, holder);
      all.resources[*vf].insert(resource);
    }
}

}  // namespace

Result<GivenDevices> PodDevices::ask(const PodRef& pod, os::Deadline deadline) {
  if (service_ == nullptr) return fail(Code::kNotFound, "the kubelet's PodResources API is not used here");
  Result<GivenDevices> one = service_->get(pod, deadline);
  // A kubelet that hangs or is away does not answer List either.
  if (one.has_value() || one.error().code == Code::kTimeout || one.error().code == Code::kIo) return one;
  std::map<std::string, GivenDevices> all = TRY(service_->list(deadline));
  auto found = all.find(pod.key());
  if (found == all.end()) return fail(Code::kNotFound, "the kubelet lists no pod {}", pod.key());
  return std::move(found->second);
}

Result<GivenDevices> PodDevices::of(const PodRef& pod, os::Deadline deadline) {
  Result<GivenDevices> asked = ask(pod, deadline);
  Result<std::string> text = files_.read(checkpoint_);
  if (!text.has_value() && !asked.has_value()) {
    if (asked.error().code == Code::kNotFound) return fail(std::move(text.error()));
    return asked;
  }
  GivenDevices all = asked.value_or(GivenDevices{});
  if (text.has_value() && !pod.uid.empty()) {
    Result<std::map<std::string, GivenDevices>> written = read_checkpoint(*text);
    if (!written.has_value() && !asked.has_value()) return fail(std::move(written.error()));
    if (written.has_value()) add((*written)[pod.uid], all);
  }
  return all;
}

Result<AllocatedVfs> PodDevices::all(os::Deadline deadline, const std::function<void()>& refresh) {
  AllocatedVfs all;
  Result<std::map<std::string, GivenDevices>> listed =
      service_ == nullptr ? fail(Code::kNotFound, "the kubelet's PodResources API is not used here")
                          : service_->list(deadline);
  if (listed.has_value()) {
    for (const auto& [pod, devices] : *listed) add_vfs(devices, pod, all);
    if (refresh) refresh();
  }
  Result<std::string> text = files_.read(checkpoint_);
  if (!text.has_value()) {
    if (listed.has_value() && text.error().code == Code::kNotFound) return all;
    return fail(std::move(listed.has_value() ? text.error() : listed.error()));
  }
  for (const auto& [uid, devices] : TRY(read_checkpoint(*text))) add_vfs(devices, fmt::format("(pod {})", uid), all);
  return all;
}

}  // namespace railbed::kubelet
