// SPDX-License-Identifier: Apache-2.0
// Repeats the kernel requests of the reference SR-IOV plugin for one VF, as one process:  sriov_replay ADD|DEL VF POD
// IFNAME
//
// The plugin's module is not available here, so its sequence is replayed: look at all VFs of the PF, one call for each
// setting, a temporary namespace for the rename, host-local as a program for the address. The cost of its own start and
// of its files is left out, in its favour. HOST_LOCAL is the program, HOST_LOCAL_CONF its configuration.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "os/ports/kernel.h"

namespace railbed::bench {
namespace {

template <typename T>
T must(Result<T> result) {
  if (!result.has_value()) {
    std::fprintf(stderr, "sriov_replay: %s\n", result.error().to_string().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The namespace of this thread, which may differ from that of the process.
os::Netns here() {
  int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (fd < 0) std::exit(1);
  return {fd, "here"};
}

class Replay {
 public:
  Replay(const std::string& vf, const std::string& pod, std::string ifname)
      : kernel_(os::real_kernel()), ifname_(std::move(ifname)), vf_(vf) {
    os::FileTree& files = kernel_->files();
    std::string device = "/sys/bus/pci/devices/" + vf;
    std::string pf = must(os::link_name(files, device + "/physfn"));
    pf_name_ = must(files.list("/sys/bus/pci/devices/" + pf + "/net")).front();
    while (must(os::link_name(files, fmt::format("/sys/bus/pci/devices/{}/virtfn{}", pf, index_))) != vf)
      ++index_.value;
    pod_ = must(kernel_->netns().open("/run/netns/" + pod));
    host_ = must(kernel_->links());
    in_pod_ = must(kernel_->netns().links(*pod_));
  }

  void add() {
    std::string name = must(kernel_->files().list("/sys/bus/pci/devices/" + vf_ + "/net")).front();
    const os::Link pf = must(host_->find(IfName{pf_name_}, os::WithVfs::kYes));
    must(host_->change_vf(pf.index, index_, {.spoof_check = false}));
    must(host_->change_vf(pf.index, index_, {.trust = true}));
    must(host_->find(IfName{pf_name_}, os::WithVfs::kYes));  // the plugin checks that it exists
    const os::Link link = must(host_->find(IfName{name}, os::WithVfs::kNo));
    {
      if (unshare(CLONE_NEWNET) != 0) std::exit(1);
      os::Netns between = here();
      must(host_->change(link.index, {.netns = &between}));
      auto there = must(kernel_->netns().links(between));
      const IfIndex moved = must(there->find(IfName{name}, os::WithVfs::kNo)).index;
      must(there->change(moved, {.up = false}));
      must(there->change(moved, {.name = IfName{ifname_}, .alias = name}));
      must(there->change(moved, {.netns = pod_.get()}));
    }
    const IfIndex inside = must(in_pod_->find(IfName{ifname_}, os::WithVfs::kNo)).index;
    must(kernel_->netns().set_sysctl(*pod_, "net/ipv4/conf/" + ifname_ + "/arp_notify", "1"));
    must(in_pod_->change(inside, {.up = true}));
    must(in_pod_->add_address({inside, must(IpPrefix::parse(host_local("ADD")))}));
  }

  void del() {
    host_local("DEL");
    const os::Link pf = must(host_->find(IfName{pf_name_}, os::WithVfs::kYes));
    must(host_->change_vf(pf.index, index_, {.spoof_check = true}));
    must(host_->change_vf(pf.index, index_, {.trust = false}));
    const os::Link link = must(in_pod_->find(IfName{ifname_}, os::WithVfs::kNo));
    must(in_pod_->change(link.index, {.up = false}));
    must(in_pod_->change(link.index, {.name = IfName{link.alias}}));
    os::Netns own = here();
    must(in_pod_->change(link.index, {.netns = &own}));
  }

 private:
  // Calls an IPAM plugin as any plugin does; returns the address that it gives.
  std::string host_local(const std::string& command) {
    auto variable = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value != nullptr ? value : "");
    };
    os::RunResult done = must(
        kernel_->processes().run({.program = variable("HOST_LOCAL"),
                                  .environment = {"CNI_COMMAND=" + command, "CNI_CONTAINERID=replay",
                                                  "CNI_NETNS=" + pod_->path(), "CNI_IFNAME=" + ifname_, "CNI_PATH=/"},
                                  .input = variable("HOST_LOCAL_CONF"),
                                  .deadline = kernel_->clock().now() + std::chrono::seconds(20)}));
    if (done.exit_status != 0) {
      std::fprintf(stderr, "sriov_replay: host-local: %s%s\n", done.output.c_str(), done.errors.c_str());
      std::exit(1);
    }
    size_t at = done.output.find("\"address\": \"");
    if (at == std::string::npos) return "";
    at += std::strlen("\"address\": \"");
    return done.output.substr(at, done.output.find('"', at) - at);
  }

  std::unique_ptr<os::Kernel> kernel_;
  std::string ifname_;
  std::string vf_;
  std::string pf_name_;
  VfIndex index_;
  std::unique_ptr<os::Netns> pod_;
  std::unique_ptr<os::LinkPort> host_;
  std::unique_ptr<os::LinkPort> in_pod_;
};

}  // namespace
}  // namespace railbed::bench

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  railbed::bench::Replay replay(argv[2], argv[3], argv[4]);
  if (std::strcmp(argv[1], "ADD") == 0)
    replay.add();
  else
    replay.del();
  return 0;
}
