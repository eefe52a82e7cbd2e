// SPDX-License-Identifier: Apache-2.0
// Addresses that interfaces in this machine's network namespaces have, and those of them that are reserved without a
// lease.
//
// Why: after a lost or older state the addresses of running pods have no lease (leftovers/in_use.h searches for them
// and reserves them). A DEL, also one of a pod that the state does not know, releases what is reserved of its
// interface; it is handled on a lower floor than the search. The reservations are notes in the store.
// Threading: functions that take a Turn: its thread. The others: any thread, not inside a Turn.
// Failure: Io and Denied of the first namespace that cannot be examined; the store's.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "base/ip.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

struct NodeAddress {
  IpAddress address;
  std::string netns;              // a path, where it was seen
  uint64_t namespace_number = 0;  // os::NetnsIdentity::number; 0: only a file says that the namespace has it
  std::string interface;
  std::optional<os::Nsid> nsid;  // of its namespace here
  std::string file;              // where there is no namespace at the path: it is in use as long as this file is there
  friend auto operator<=>(const NodeAddress&, const NodeAddress&) = default;
};
inline constexpr size_t kMostOfInterface = 16;
inline constexpr size_t kMostOfNamespace = 64;
struct NodeAddresses {
  std::vector<NodeAddress> all;
  std::set<uint64_t> namespaces;  // that were looked at, by their numbers
  std::vector<std::string> odd;   // paths of those with more addresses than are counted
};
// Of all namespaces but this process's own.
Result<NodeAddresses> node_addresses(os::Kernel& kernel);
// Adds the addresses of one namespace, up to those limits; a pod may add as many as it likes.
void count_in(std::vector<NodeAddress> of_one, NodeAddresses& found);
// Loopback and link-local addresses: no pool has them.
bool is_of_one_link(const IpAddress& address);

// The note with the time when all namespaces had been examined: the state began then. In seconds since 1970.
inline constexpr const char* kLooked = "in use: looked";
// The namespaces that existed then: interfaces in them may belong to pods that the state does not know. By their
// numbers; nullopt while they are still being examined.
Result<std::optional<std::set<uint64_t>>> namespaces_of_before(state::Store& store);

// Releases the reserved addresses of one interface of a pod, also of one that the state does not know; of all its
// interfaces if `interface` is empty. An address that an interface shows is released only if the namespace is still at
// `path`; otherwise it is released when the namespace ends.
Result<void> release_in_use(Engine::Turn& turn, const std::string& path, const std::string& interface);

// The notes. kLooking is there from InUse::start() to the end of its look(); kNamespaces has numbers of namespaces,
// separated by blanks.
inline constexpr const char* kLooking = "in use: looking";
inline constexpr const char* kNamespaces = "in use: namespaces";
Result<void> put_in_use(state::Store& store, const NodeAddress& one);
Result<void> forget_in_use(state::Store& store, const NodeAddress& one);
Result<std::set<NodeAddress>> read_in_use(state::Store& store);
// Makes the allocator refuse these addresses, and no others.
void reserve_in_use(ipam::Allocator& addresses, const std::set<NodeAddress>& set_aside);

}  // namespace railbed::agent
