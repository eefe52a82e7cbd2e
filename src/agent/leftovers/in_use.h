// SPDX-License-Identifier: Apache-2.0
// Addresses that interfaces in this machine's network namespaces have, whoever gave them.
//
// Why: a state that is new, because the file was lost or moved away, or because railbed was just installed, knows no
// leases of the pods that run. Their addresses must not be given to others. So before the first address is given out
// from a new state, all namespaces are looked at, and what their interfaces have is set aside, in every pool, until the
// namespace has ended or its interface has the address no more. Where a namespace cannot be looked at, no addresses are
// given out until it can.
//
// Namespaces are those in /run/netns and those of processes. Not set aside: addresses of loopbacks, link-local ones,
// and those with a lease. Threading: start() and refresh() from one thread, not in a turn. Failure: Io and Denied of
// the first namespace that cannot be looked at; the store's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "base/ip.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

struct NodeAddress {
  IpAddress address;
  std::string netns;  // a path
  uint64_t cookie = 0;
  std::string interface;
  friend auto operator<=>(const NodeAddress&, const NodeAddress&) = default;
};
struct NodeAddresses {
  std::vector<NodeAddress> all;
  std::set<uint64_t> namespaces;  // that were looked at, by their cookies
};
// Of all namespaces but this process's own.
Result<NodeAddresses> node_addresses(os::Kernel& kernel);

// The note that says when all namespaces were looked at: the state began then. In seconds since 1970.
inline constexpr const char* kLooked = "in use: looked";
// The namespaces that were there then: interfaces in them may be of pods that the state does not know. By their
// cookies.
Result<std::set<uint64_t>> namespaces_of_before(state::Store& store);

class InUse {
 public:
  explicit InUse(Engine& engine) : engine_(engine) {}

  // At the agent's start, and again for as long as it fails: until then, the allocator refuses. Returns how many
  // addresses are set aside.
  Result<size_t> start();
  // Frees what is in use no more; for every few seconds. Does start() where that has failed.
  Result<void> refresh();

 private:
  Result<void> find(Engine::Turn& turn);
  Result<void> load(Engine::Turn& turn);

  Engine& engine_;
  bool started_ = false;
  std::set<NodeAddress> set_aside_;
};

}  // namespace railbed::agent
