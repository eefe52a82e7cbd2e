// SPDX-License-Identifier: Apache-2.0
// The interfaces in the host's namespace, listed once and cached.
//
// Why: eight interfaces of a pod need one list, not eight; querying a PF for its VFs holds the kernel's RTNL lock for
// milliseconds per VF, so it is done once per PF and only for those whose settings matter.
// Threading: one thread.
// Failure: the ports' own.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "attach/record.h"
#include "attach/wait_policy.h"
#include "os/ports/kernel.h"

namespace railbed::attach {

class Host {
 public:
  Host(os::Kernel& kernel, WaitPolicy policy) : kernel_(kernel), policy_(std::move(policy)) {}

  os::Kernel& kernel() { return kernel_; }
  // Does what takes long, as the policy says; afterwards everything is read again.
  Result<void> without_lock(LongWait kind, const std::function<Result<void>()>& work);
  // Whether the last without_lock() ended without the turn: then nothing may be read or changed any more, here or in
  // the store.
  bool lock_lost() const { return lock_lost_; }
  const std::stop_token& stop() const { return policy_.stop; }
  Result<os::LinkPort*> links();
  Result<const os::Netns*> own_netns();
  // Valid until forget(); null where there is none.
  Result<const os::Link*> by_pci(PciAddress device);
  Result<const os::Link*> by_auxiliary(const std::string& device);
  Result<const os::Link*> by_name(const std::string& name);  // or alternative name
  Result<const os::Link*> by_index(IfIndex index);
  Result<const os::Link*> by_mac(const MacAddress& mac);
  // The interface that `before` describes, under any name.
  Result<const os::Link*> find_original_link(const Before& before, const std::string& interface);
  Result<std::string> names();  // "eth0, eth1", for messages
  // The PF's report about its VF.
  Result<os::VfInfo> vf(PciAddress pf, VfIndex vf);
  Result<os::Link> pf_link(PciAddress pf);
  // The PF's interface, through which its settings are changed; nullopt without one. Looked up once, because only its
  // VFs come and go meanwhile; forget() keeps it.
  Result<std::optional<IfIndex>> pf_index(PciAddress pf);
  Result<std::vector<os::LinkAddress>*> addresses();
  Result<std::vector<Route>*> routes();
  // Must be called after a change: the next question lists again.
  void forget();

 private:
  template <typename Match>
  Result<const os::Link*> first(Match match);

  os::Kernel& kernel_;
  WaitPolicy policy_;
  bool lock_lost_ = false;
  std::unique_ptr<os::LinkPort> links_;
  std::unique_ptr<os::Netns> own_;
  std::optional<std::vector<os::Link>> all_;
  // The first that was asked for by its name: most pods have one master for all their networks, and listing the host's
  // interfaces takes the longer the more pods there are. A request for another one gets the list.
  std::optional<os::Link> first_by_name_;
  std::map<PciAddress, std::vector<os::VfInfo>> vfs_;
  std::map<PciAddress, IfIndex> pf_indexes_;
  std::optional<std::vector<os::LinkAddress>> addresses_;
  std::optional<std::vector<Route>> routes_;
};

// The VF's PF and number, from sysfs; nullopt when the device is no VF.
struct VfPlace {
  PciAddress pf;
  VfIndex index;
};
Result<std::optional<VfPlace>> vf_place(const os::FileTree& files, PciAddress device);

// The path in sysfs of the interface's device; empty without one.
std::string bus_path(const Before& before);
bool device_is_there(const os::FileTree& files, const Before& before);
bool device_exists(const os::FileTree& files, PciAddress device);
std::string device_path(PciAddress device);                           // in sysfs
std::string driver_of(const os::FileTree& files, PciAddress device);  // empty: none

}  // namespace railbed::attach
