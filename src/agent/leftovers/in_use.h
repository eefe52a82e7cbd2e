// SPDX-License-Identifier: Apache-2.0
// Reserves addresses that interfaces in this machine's network namespaces have, regardless of who allocated them.
//
// Why: a state that is new, because the file was lost or moved away, or because railbed was just installed, has no
// leases of the running pods. Their addresses must not be allocated to others. So before the first address is allocated
// from a new state, all namespaces are scanned, and the addresses of their interfaces are reserved, in every pool,
// until their DEL arrives or the kernel reports that the namespace has ended. They are never released because an
// interface no longer shows the address: gVisor and virtual machines remove it from the interface and still use it.
// Their addresses are in files and statuses (written_addresses.h), which are read, too. Until the scan is complete, and
// if a namespace cannot be examined, no addresses of pools are allocated; requests that need none are served in the
// meantime.
//
// Namespaces are those that os::NetnsPort::visit() finds. Not reserved: loopback addresses, link-local ones, those with
// a lease of the pod in that namespace, and more than a pod's interfaces have (kMostOfInterface, kMostOfNamespace): a
// pod that may change its network must not take a whole range. The excess is reported.
// Threading: start(); then look() from one thread and the others from another one; not inside a Turn.
// Failure: Io and Denied of the first namespace that cannot be examined; the store's.
#pragma once

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/addresses/addresses_in_use.h"
#include "agent/engine.h"
#include "agent/leftovers/written_addresses.h"
#include "agent/pod/sources.h"
#include "os/ports/disk.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

// Adds what is written of containers, but not of those from before this boot.
Result<void> add_written(os::Kernel& kernel, const std::vector<WrittenAddress>& written, NodeAddresses& found);

class InUse {
 public:
  // All outlive this.
  InUse(Engine& engine, os::Disk& disk, PodSource& pods) : engine_(engine), disk_(disk), pods_(pods) {}

  // At the agent's start, before the first request. False: the namespaces have to be looked at; until look() has done
  // so, the allocator refuses.
  Result<bool> start();
  // Looks at all namespaces if start() asked for it and it was not done yet. Takes as long as they need to answer.
  // Returns how many addresses are set aside.
  Result<size_t> look();
  // Frees what is in use no more; for every few seconds. Nothing before look().
  Result<void> refresh();
  bool is_known() const { return started_; }
  // Namespaces with more addresses than are set aside, of each look once.
  std::vector<std::string> take_odd() { return std::exchange(odd_, {}); }

 private:
  Result<void> find();
  Result<void> begin(Engine::Turn& turn);
  Result<bool> is_still_used(const NodeAddress& one, const std::set<os::Nsid>& given);
  static void refuse(Engine::Turn& turn, Error why);
  Result<void> read(Engine::Turn& turn);
  Result<void> number_old(Engine::Turn& turn);

  Engine& engine_;
  os::Disk& disk_;
  PodSource& pods_;
  std::atomic<bool> started_ = false;
  std::vector<std::string> odd_;
  std::set<NodeAddress> set_aside_;
};

}  // namespace railbed::agent
