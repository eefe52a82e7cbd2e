// SPDX-License-Identifier: Apache-2.0
// What the kubelet says over its sockets, as the values that gRPC makes of it: which devices pods have (PodResources),
// and for which devices a container asks (DevicePlugin). Any texts: no crash, only PCI functions are in use, and a
// container gets nothing of a device that is not offered.
//
// A line each: "ns/pod resource device". After an empty line comes the kubelet's checkpoint.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include "kubelet/allocation.h"
#include "kubelet/pod_resources.h"

using namespace railbed;  // NOLINT

namespace {

struct Said : kubelet::PodResources {
  std::map<std::string, kubelet::GivenDevices> pods;
  Result<kubelet::GivenDevices> get(const kubelet::PodRef& pod, os::Deadline) override {
    const auto found = pods.find(pod.key());
    if (found == pods.end()) return fail(Code::kUnsupported, "no Get");
    return found->second;
  }
  Result<std::map<std::string, kubelet::GivenDevices>> list(os::Deadline) override { return pods; }
};

// A machine whose only file is the checkpoint.
struct Files : os::FileTree {
  std::string checkpoint;
  Result<std::string> read(const std::string& path) const override {
    if (path != kubelet::kCheckpoint) return fail(Code::kNotFound, "{}", path);
    return checkpoint;
  }
  Result<void> write(const std::string& path, std::string_view) override { return fail(Code::kDenied, "{}", path); }
  Result<std::vector<std::string>> list(const std::string&) const override { return std::vector<std::string>{}; }
  Result<std::string> read_link(const std::string& path) const override { return fail(Code::kNotFound, "{}", path); }
  Result<std::string> real_path(const std::string& path) const override { return path; }
  bool exists(const std::string& path) const override { return path == kubelet::kCheckpoint; }
};

const char* const kOffered[] = {"0000:3b:00.2", "0000:3b:00.3"};

kubelet::Resource offered() {
  kubelet::Resource out;
  for (const char* address : kOffered) {
    kubelet::Device device;
    device.vf.address = PciAddress::parse(address).value();
    out.devices.push_back(device);
  }
  out.devices.back().unhealthy = "it is held";
  return out;
}

void allocate(const std::vector<std::string>& ids) {
  const auto made = kubelet::allocate("openshift.io/rail0", offered(), ids,
                                      [](const kubelet::Device&) { return kubelet::VfFiles{.driver = "mlx5_core"}; });
  if (!made) {
    if (made.error().message.empty()) std::abort();
    return;
  }
  for (const std::string& id : ids)
    if (id != kOffered[0]) std::abort();
  if (made->environment.size() != 2 || !made->files.empty()) std::abort();
}

void ask(Said& service, const Files& files, const std::set<std::string>& texts) {
  kubelet::PodDevices devices(files, &service);
  for (const auto& [pod, given] : service.pods) {
    const size_t slash = pod.find('/');
    const kubelet::PodRef ref{pod.substr(0, slash), slash == std::string::npos ? "" : pod.substr(slash + 1), "uid"};
    if (ref.key() != pod) continue;  // "a" is no key, and asks for pod "a/"
    if (const auto one = devices.of(ref, {}))
      for (const auto& [resource, ids] : given)
        if (!one->contains(resource)) std::abort();
  }
  const auto all = devices.all({}, nullptr);
  if (!all) return;
  if (!files.checkpoint.empty()) return;  // which may name any device
  for (const auto& [vf, holder] : all->pods) {
    const auto is_it = [&vf](const std::string& text) {
      const auto address = PciAddress::parse(text);
      return address && *address == vf;
    };
    const bool said = std::ranges::any_of(texts, is_it);
    if (!said || holder.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The lines up to an empty one, then the checkpoint.
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find("\n\n");
  Said service;
  Files files;
  if (end != std::string::npos) files.checkpoint = text.substr(end + 2);
  std::set<std::string> texts;
  std::vector<std::string> ids;
  std::istringstream lines(text.substr(0, end));
  for (std::string line; std::getline(lines, line) && texts.size() < 200;) {
    const size_t first = line.find(' ');
    const size_t second = first == std::string::npos ? first : line.find(' ', first + 1);
    if (second == std::string::npos) continue;
    const std::string id = line.substr(second + 1);
    service.pods[line.substr(0, first)][line.substr(first + 1, second - first - 1)].insert(id);
    texts.insert(id);
    ids.push_back(id);
    allocate({id});
  }
  allocate(ids);
  ask(service, files, texts);
  return 0;
}
