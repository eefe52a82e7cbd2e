// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>
#include <unistd.h>

#include "os/netlink/real_eswitch.h"
#include "os/netlink/real_links.h"
#include "os/netlink/real_questions.h"
#include "os/netlink/real_rdma.h"
#include "os/ports/kernel.h"

namespace railbed::os {
namespace {

class RealKernel : public Kernel {
 public:
  FileTree& files() override { return *files_; }
  NetnsPort& netns() override { return *netns_; }
  UeventPort& uevents() override { return *uevents_; }
  ProcessPort& processes() override { return *processes_; }
  Clock& clock() override { return *clock_; }
  Result<std::unique_ptr<LinkPort>> links() override { return real_links(); }
  Result<std::unique_ptr<RdmaPort>> rdma() override { return real_rdma(); }
  Result<std::unique_ptr<EswitchPort>> eswitch() override { return real_eswitch(); }
  std::unique_ptr<NetlinkQuestions> questions() override { return real_questions(); }
  Result<std::unique_ptr<LinkWatch>> link_watch() override { return real_link_watch(); }
  bool live() const override { return true; }

  std::string host_name() const override {
    utsname names{};
    return ::uname(&names) == 0 ? names.nodename : "";
  }
  std::string kernel_release() const override {
    utsname names{};
    return ::uname(&names) == 0 ? names.release : "";
  }
  std::string boot_id() const override { return read_line(*files_, "/proc/sys/kernel/random/boot_id").value_or(""); }

 private:
  std::unique_ptr<FileTree> files_ = real_files("/");
  std::unique_ptr<NetnsPort> netns_ = real_netns();
  std::unique_ptr<UeventPort> uevents_ = real_uevents();
  std::unique_ptr<ProcessPort> processes_ = real_processes();
  std::unique_ptr<Clock> clock_ = real_clock();
};

}  // namespace

std::unique_ptr<Kernel> real_kernel() {
  return std::make_unique<RealKernel>();
}

}  // namespace railbed::os
