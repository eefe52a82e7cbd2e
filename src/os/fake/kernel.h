// SPDX-License-Identifier: Apache-2.0
// A simulated machine in memory: VFs appear, drivers bind, interfaces move, faults can be injected.
//
// Why: behaviour when a device is busy, a VF never appears, or the process is killed between two steps must be tested
// at every step, which no real machine allows. It implements the relevant rules of the kernel:
//   - sriov_numvfs: EBUSY from n to m, ERANGE above the total; VFs appear with their links, and bind to their
//     driver when autoprobe is on; with autoprobe off only a driver_override lets a driver have a VF;
//   - drivers_probe succeeds also when no driver took the device (vfio-pci without an IOMMU group);
//   - an interface that moves loses its addresses, its rxe device and its place in /sys; names clash (EEXIST);
//   - a namespace lives while it has a name, an open Netns or a port; then its hardware interfaces fall back to the
//     initial one under their last name, and the others no longer exist.
// Time advances only in waits: a wait advances directly to the next delayed event, or to its deadline.
// Threading: any number of threads, as the real one; one call at a time takes effect.
// Failure: the messages are the real ports' messages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/fake/machine.h"
#include "os/ports/kernel.h"

namespace railbed::os {

class FakeState;

class FakeKernel : public Kernel {
 public:
  explicit FakeKernel(const FakeMachine& machine = FakeMachine::lab());
  ~FakeKernel() override;

  // --- What goes wrong. A "call" is one that changes the machine; each has a line in the journal.
  void fail_call(int nth, int sys_errno);  // the nth from now, from 1
  // Calls whose journal line contains `part`; `times` < 0 for always.
  void fail_when(std::string part, int sys_errno, int times = 1);
  // Opening this namespace fails until the errno is 0.
  void refuse_netns(const std::string& path, int sys_errno);
  // The family's socket cannot be opened until the errno is 0; EPROTONOSUPPORT: this kernel has no such family.
  void refuse_netlink(NetlinkFamily family, int sys_errno);
  // kill -9: after `calls` more calls nothing takes effect any more, and changes and waits fail with Canceled. With
  // kUnanswered the last of these calls takes effect, but its caller does not learn of it.
  enum class Kill { kBetween, kUnanswered };
  void kill_after(int calls, Kill kill = Kill::kBetween);
  bool killed() const;
  void restart();  // as a new process: everything works again on the same machine
  // Runs `action` once, before the first call whose journal line contains `part`, or the first wait with it: "wait for
  // uevent", "wait for announcement of an interface".
  void before(std::string part, std::function<void()> action);

  // --- What takes time, on this clock; negative means forever.
  void delay_vfs(std::chrono::milliseconds delay);      // from sriov_numvfs to the VFs
  void delay_drivers(std::chrono::milliseconds delay);  // from a probe to the bound driver
  void delay_netdevs(std::chrono::milliseconds delay);  // from a bound driver to its interface
  void delay_carrier(std::chrono::milliseconds delay);  // from "up" to the carrier
  // From the release of the last hold on a namespace to its end.
  void delay_netns_end(std::chrono::milliseconds delay);

  // --- What others do to the machine; these are not counted as calls.
  void set_carrier(const std::string& name, bool carrier);
  void vanish_netns(const std::string& name);  // with everything that holds it
  // It loses its name and lives on, held by a reference that no search finds, such as a socket, until
  // end_hidden_netns().
  void hide_netns(const std::string& name);
  void end_hidden_netns();
  void remove_link(const std::string& name);  // in the initial namespace, as by hot-unplug
  // A router's advertisement arrives at an interface in this namespace: it counts as far as the sysctls let it.
  void advertise(const std::string& netns, const std::string& interface, const IpPrefix& prefix,
                 const IpAddress& router);
  void put_file(const std::string& path, const std::string& content);
  void use_file(const std::string& path, bool in_use = true);  // a program has it open
  // The namespace belongs to another user namespace than the initial one, and has no sysctls that hide_sysctl() names.
  void change_owner(const std::string& netns);
  void hide_sysctl(const std::string& key);
  void put_link(const std::string& path, const std::string& target);
  // The effect of running the executable at `path`; counts as one call, whatever it does.
  using Program = std::function<Result<RunResult>(const RunRequest&)>;
  void put_program(const std::string& path, Program program);

  // --- The calls so far, and the state of the machine.
  // One line per call: "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 4", "link eth2 to /run/netns/a as net1";
  // those that failed end with " -> EBUSY".
  std::vector<std::string> journal() const;
  void clear_journal();
  // Everything that can change, as text in a fixed order without indexes: equal texts mean equal machines.
  std::string snapshot() const;

  FileTree& files() override;
  NetnsPort& netns() override;
  UeventPort& uevents() override;
  ProcessPort& processes() override;
  Clock& clock() override;
  Result<std::unique_ptr<LinkPort>> links() override;
  Result<std::unique_ptr<RdmaPort>> rdma() override;
  Result<std::unique_ptr<EswitchPort>> eswitch() override;
  std::unique_ptr<NetlinkQuestions> questions() override;
  Result<std::unique_ptr<LinkWatch>> link_watch() override;
  bool live() const override { return true; }
  std::string host_name() const override;
  std::string kernel_release() const override;
  std::string boot_id() const override;

 private:
  std::shared_ptr<FakeState> state_;
  std::unique_ptr<FileTree> files_;
  std::unique_ptr<NetnsPort> netns_;
  std::unique_ptr<UeventPort> uevents_;
  std::unique_ptr<ProcessPort> processes_;
  std::unique_ptr<Clock> clock_;
};

}  // namespace railbed::os
