// SPDX-License-Identifier: Apache-2.0
// The single steps of one PF, applied to the machine.
//
// Why: a step checks the current state before it acts, so that it can be repeated after a kill. pf_run handles order
// and journal.
// Threading: one thread.
// Failure: errors with the path or netlink message, the errno, and a hint for the known ones; a failed step is not
// undone, except for VFs that did not all appear: these are removed again.
// Source: Documentation/PCI/pci-iov-howto.rst, Documentation/ABI/testing/sysfs-bus-pci.
#pragma once

#include <chrono>

#include "apply/apply.h"
#include "apply/pci_device.h"
#include "os/ports/waits.h"

namespace railbed::apply {

// For messages.
inline double in_seconds(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

class Actions {
 public:
  Actions(os::Kernel& kernel, os::LinkPort& links, const plan::PfPlan& pf, const Options& options);

  Result<void> operator()(const plan::SetAutoprobe& step);
  Result<void> operator()(const plan::SetPfUp& step);
  Result<void> operator()(const plan::SetPfMtu& step);
  Result<void> operator()(const plan::SetEswitchMode& step);
  Result<void> operator()(const plan::SetVfCount& step);
  Result<void> operator()(const plan::SetVfMac& step);
  Result<void> operator()(const plan::SetVfGuids& step);
  Result<void> operator()(const plan::BindVf& step);
  Result<void> operator()(const plan::SetVfMtu& step);
  Result<void> operator()(const plan::NeedsReboot&);

  // The MACs of several VFs together, which takes a fraction of the time.
  Result<void> set_macs(const std::vector<plan::SetVfMac>& steps);

  // What was unusual but no failure, each once.
  std::vector<std::string> take_notes() { return std::move(notes_); }
  // "ens1f0 keeps 4 VFs, 2 of them without a driver", for the report after a failure.
  std::string remains() const;

 private:
  Result<IfIndex> pf_index();
  Result<os::Link> pf_link();
  Result<void> wait_for_carrier();
  Result<void> write_vf_count(int count);
  Result<void> wait_for_vfs(int count);
  Result<void> unbind(const plan::BindVf& step, const std::string& driver);
  Result<void> choose_driver(const plan::BindVf& step, const std::string& chosen);
  Result<void> wait_for_driver(const plan::BindVf& step);
  Result<void> wait_for_netdev(const plan::BindVf& step);

  os::FileTree& files() const { return kernel_.files(); }

  os::Kernel& kernel_;
  os::LinkPort& links_;
  const plan::PfPlan& pf_;
  const Options& options_;
  os::Waits waits_;
  std::optional<IfIndex> pf_index_;
  bool no_carrier_ = false;
  std::vector<std::string> notes_;
};

}  // namespace railbed::apply
