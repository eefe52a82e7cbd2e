// SPDX-License-Identifier: Apache-2.0
// What the agent will do with the device plugin, by hand: offers made-up VFs to the kubelet of this machine.
//
//   offer_devices serve       reads commands from standard input, a line each, and answers each with a line:
//       offer RESOURCE=ID[+uverbsN],...  ...    "offered"
//       withdraw ID...                          "withdrawn", or why not
//       allocated                               "allocated ID POD; ..."
//       problems                                "problems ..."
//   offer_devices allocatable               what the kubelet counts as allocatable now: "RESOURCE ID", a line each
//   offer_devices given NAMESPACE POD UID   the devices of a pod, as the agent's meta plugin gets them: the same
#include <cstdio>
#include <iostream>
#include <sstream>

#include <podresources/v1/api.grpc.pb.h>

#include "kubelet/grpc/device_plugin.h"
#include "kubelet/grpc/pod_resources_client.h"
#include "kubelet/grpc/status.h"
#include "os/record/memory_files.h"

namespace railbed::kubelet {
namespace {

os::Deadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(2);
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// sysfs has these VFs, and everything else is the machine's.
class FilesWithVfs : public os::FileTree {
 public:
  os::MemoryFiles vfs;

  Result<std::string> read(const std::string& path) const override { return of(path).read(path); }
  Result<void> write(const std::string& path, std::string_view text) override { return real_->write(path, text); }
  Result<std::vector<std::string>> list(const std::string& path) const override { return of(path).list(path); }
  Result<std::string> read_link(const std::string& path) const override { return of(path).read_link(path); }
  Result<std::string> real_path(const std::string& path) const override { return of(path).real_path(path); }
  bool exists(const std::string& path) const override { return of(path).exists(path); }

 private:
  const os::FileTree& of(const std::string& path) const {
    return path.starts_with("/sys/") ? static_cast<const os::FileTree&>(vfs) : *real_;
  }
  std::unique_ptr<os::FileTree> real_ = os::real_files("/");
};

class Node {
 public:
  Result<void> add(const std::string& resource, const std::string& text) {
    const size_t plus = text.find('+');
    const PciAddress address = TRY(PciAddress::parse(text.substr(0, plus)));
    const PciAddress pf{.domain = address.domain, .bus = address.bus};
    plan::PoolVf wanted{.pf = pf,
                        .pf_name = fmt::format("eth{}", pf.bus),
                        .index = {address.device * 8 + address.function},
                        .address = address};
    facts::Vf vf{.index = wanted.index};
    vf.pci.address = address;
    vf.pci.driver = "fake";
    vf.netdev = facts::NetInterface{.name = "fake"};
    const std::string device = fmt::format("/sys/bus/pci/devices/{}", address);
    files.vfs.put_link(device + "/driver", "../../drivers/fake");
    if (plus != std::string::npos) {
      wanted.rdma = true;
      const std::string rdma = "rdma-" + text.substr(plus + 1);
      vf.rdma = facts::RdmaDevice{.name = rdma};
      files.vfs.put_directory(device + "/infiniband/" + rdma);
      files.vfs.put_file("/sys/class/infiniband_verbs/" + text.substr(plus + 1) + "/ibdev", rdma);
    }
    auto nic = std::ranges::find_if(devices.facts.nics, [&](const auto& one) { return one.pci.address == pf; });
    if (nic == devices.facts.nics.end()) {
      devices.facts.nics.emplace_back().pci.address = pf;
      nic = devices.facts.nics.end() - 1;
    }
    nic->vfs.push_back(std::move(vf));
    devices.resources[resource].push_back(std::move(wanted));
    return {};
  }

  FilesWithVfs files;
  NodeDevices devices;
};

Result<void> offer(Node& node, DevicePlugin& plugin, std::istringstream& words) {
  node.devices = {};
  std::string word;
  while (words >> word) {
    const size_t equals = word.find('=');
    node.devices.resources[word.substr(0, equals)];
    std::istringstream ids(word.substr(equals + 1));
    for (std::string id; std::getline(ids, id, ',');) TRY(node.add(word.substr(0, equals), id));
  }
  return plugin.offer(node.devices);
}

Result<std::string> answer(Node& node, DevicePlugin& plugin, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command == "offer") {
    TRY(offer(node, plugin, words));
    return "offered";
  }
  if (command == "withdraw") {
    std::set<PciAddress> vfs;
    for (std::string id; words >> id;) vfs.insert(TRY(PciAddress::parse(id)));
    TRY(plugin.withdraw(vfs));
    return "withdrawn";
  }
  if (command == "allocated") {
    std::string text = "allocated";
    const AllocatedVfs allocated = TRY(plugin.allocated());
    for (const auto& [vf, pod] : allocated.pods) text += fmt::format(" {} {};", vf, pod);
    return text;
  }
  return fmt::format("problems {}", fmt::join(plugin.problems(), "; "));
}

Result<void> serve() {
  Node node;
  PodResourcesClient pod_resources;
  const std::unique_ptr<os::Disk> disk = os::real_disk();
  const auto plugin = TRY(DevicePlugin::start({*disk, node.files, pod_resources}));
  say("started");
  for (std::string line; std::getline(std::cin, line);) {
    const Result<std::string> said = answer(node, *plugin, line);
    say(said.has_value() ? *said : "failed: " + said.error().story());
  }
  return {};
}

Result<void> allocatable() {
  grpc::ClientContext context;
  set_deadline(context, soon());
  v1::AllocatableResourcesResponse all;
  const grpc::Status status =
      v1::PodResourcesLister::NewStub(channel_to(kPodResourcesSocket))->GetAllocatableResources(&context, {}, &all);
  if (!status.ok()) return fail(error_of(status, "GetAllocatableResources"));
  std::set<std::string> lines;
  for (const auto& devices : all.devices())
    for (const auto& id : devices.device_ids()) lines.insert(devices.resource_name() + " " + id);
  for (const std::string& line : lines) say(line);
  return {};
}

Result<void> given(const PodRef& pod) {
  PodResourcesClient client;
  const auto files = os::real_files("/");
  for (const auto& [resource, ids] : TRY(PodDevices(*files, &client).of(pod, soon())))
    for (const std::string& id : ids) say(resource + " " + id);
  return {};
}

}  // namespace
}  // namespace railbed::kubelet

int main(int count, char** arguments) {
  using namespace railbed;
  const std::string command = count > 1 ? arguments[1] : "";
  Result<void> done = fail(Code::kInvalid, "offer_devices serve|allocatable|given NAMESPACE POD UID");
  if (command == "serve") done = kubelet::serve();
  if (command == "allocatable") done = kubelet::allocatable();
  if (command == "given" && count == 5) done = kubelet::given({arguments[2], arguments[3], arguments[4]});
  if (done.has_value()) return 0;
  std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return 1;
}
