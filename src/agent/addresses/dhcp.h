// SPDX-License-Identifier: Apache-2.0
// Leases of DHCP servers, for the lifetime of their interfaces.
//
// Why here: an IPAM plugin exits after its request, but a lease has to be renewed. The original has a daemon with a
// thread per lease that forgets all leases when it restarts; here one thread serves all, and each lease is in the store
// before it is used, so that a restarted agent continues to renew.
//
// Threading: any thread, but not inside a Turn: a server may take seconds.
// Failure: Timeout if no server answers; Invalid with the option that the server omitted or the key that is wrong;
// NotFound if the interface or the namespace no longer exists.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/engine.h"
#include "cni/add_result.h"
#include "cni/config.h"
#include "cni/request.h"
#include "doc/value.h"
#include "ipam/assign.h"
#include "os/ports/clock.h"
#include "os/ports/packets.h"

namespace railbed::agent {

class Dhcp {
 public:
  // Both must outlive this. The thread begins with start().
  Dhcp(Engine& engine, os::PacketPort& packets);
  ~Dhcp();
  Dhcp(const Dhcp&) = delete;
  Dhcp& operator=(const Dhcp&) = delete;

  // Reads the leases of an earlier agent and begins to renew them.
  Result<void> start();
  void stop();
  // The parts of start(), for tests: restore() reads earlier leases, work() does what is due and returns when to call
  // it again. asleep(): the thread has done what is due and waits.
  Result<void> restore();
  os::Deadline work();
  bool asleep() const;

  struct Request {
    ipam::Owner owner;         // state::Sandbox::key(), interface
    std::string container_id;  // the fields of the client id are those of the original plugin
    std::string network;
    std::string netns_path;
    doc::Value ipam;
    std::map<std::string, std::string> cni_args;
  };
  // Addresses, routes and DNS from the server. The interface must exist and be up. A second call for the same owner
  // answers from the lease that it has.
  Result<cni::AddResult> acquire(const Request& request, os::Deadline deadline);
  // Routes that a server offered and that were not taken (dhcp_lease.h), each of them once: whose and which.
  std::vector<std::pair<ipam::Owner, std::string>> take_dropped();
  // Whether the owner has a lease to release. May be called inside a Turn.
  bool has(const ipam::Owner& owner) const;
  // Releases the lease and informs the server if the namespace still exists. No lease is success.
  Result<void> release(const ipam::Owner& owner);
  // NotFound without a lease that is valid at the moment.
  Result<void> check(const ipam::Owner& owner);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railbed::agent
