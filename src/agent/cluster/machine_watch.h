// SPDX-License-Identifier: Apache-2.0
// Receives kernel notifications about changes that affect VFs: the link of a PF, drivers and RDMA devices.
//
// Why: the kubelet allocates VFs to pods by their health, and scanning the machine every 30 s would leave a VF without
// a link or a driver on offer for that long. Starting and ending pods cause most of the kernel's notifications, and
// need no scan: only links of PFs count, and devices with an address on a bus. Changes in quick succession are reported
// once a second.
//
// Threading: run() in its own thread, which starts another one, so that it receives devices and links immediately;
// `changed` is called by both, expect() may be called by any.
// Failure: none; if the kernel's notifications are unavailable, the log reports it, and only the scans every 30 s
// remain.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "facts/node_facts.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

// Whether a VF, or what it depends on, may be another one by this.
bool concerns_vfs(const os::Uevent& event);

// The PFs' interfaces, and whether they had a link.
std::map<std::string, bool> links_of_pfs(const facts::NodeFacts& facts);

class MachineWatch {
 public:
  // The kernel outlives it.
  MachineWatch(os::Kernel& kernel, std::function<void()> changed);

  // What the last look at the machine has seen. A link that is another one by now is reported as a change.
  void expect(std::map<std::string, bool> links);

  void run(std::stop_token stop);

  // The steps of run(), each waiting until `deadline` for one announcement.
  Result<void> open();
  Result<void> hear_devices(os::Deadline deadline);
  Result<void> hear_links(os::Deadline deadline);

 private:
  void look_at_links();
  void notice();
  void report_what_waits();
  void follow(const std::stop_token& stop, const char* what, Result<void> (MachineWatch::*hear)(os::Deadline));

  os::Kernel& kernel_;
  const std::function<void()> changed_;
  std::unique_ptr<os::UeventStream> devices_;
  std::unique_ptr<os::LinkWatch> links_;
  std::mutex mutex_;
  std::map<std::string, bool> expected_;
  std::optional<os::Deadline> reported_at_;  // when a change was reported last
  bool waits_ = false;                       // a change that came sooner than that may be reported
};

}  // namespace railbed::agent
