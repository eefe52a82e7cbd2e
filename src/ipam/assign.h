// SPDX-License-Identifier: Apache-2.0
// Which addresses an interface gets.
//
// Why: the original plugins need files, leases and locks for a simple decision: the lowest free address of a range.
// Here it is a pure function of the network's `ipam` block and of the allocated addresses; the caller records the
// result (state::Store) in the same transaction as the attachment it is for.
//
// An address is unique within its pool: for host-local the network; for whereabouts the `network_name`, or one pool for
// all networks without one, as its overlap protection does. `static` addresses have no pool: an address that two
// networks list is assigned twice.
//
// Never allocated: excluded addresses, gateways (of ranges and of routes), the network and broadcast address of an IPv4
// subnet shorter than /31, and the subnet-router anycast address of an IPv6 subnet shorter than /127 (RFC 4291 2.6.1).
//
// Threading: pure functions.
// Failure: Exhausted names the ranges and the holders of their addresses; Conflict names the holder of a requested
// address; Invalid explains where a requested address does not fit; Unsupported for dhcp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/ipam.h"
#include "base/error.h"
#include "base/ip.h"
#include "state/store.h"

namespace railbed::ipam {

// An interface of a pod.
struct Owner {
  std::string pod;        // "namespace/name"
  std::string interface;  // "net1"
  friend auto operator<=>(const Owner&, const Owner&) = default;
};

struct Assigned {
  IpPrefix address;
  std::optional<IpAddress> gateway;
  std::string pool;  // the pool in which to record it; empty for static addresses
  friend bool operator==(const Assigned&, const Assigned&) = default;
};

// Addresses in use, by pool.
using Taken = std::map<std::string, std::map<IpAddress, Owner>>;
Taken taken_by(const std::vector<state::AddressLease>& leases);

// The pool that a network's ranges belong to; empty where the type has none.
std::string pool_of(const api::IpamConfig& config, const std::string& network);

// The addresses for one interface of `network` ("namespace/name"). `owner` keeps an address that it already has;
// otherwise it gets the lowest free one. `requested` are the addresses that a pod asks for explicitly, with or without
// prefix length.
Result<std::vector<Assigned>> assign(const api::IpamConfig& config, const std::string& network, const Taken& taken,
                                     const std::vector<std::string>& requested, const Owner& owner);

// One interface that wants addresses.
struct AddressClaim {
  Owner owner;
  std::string network;
  api::IpamConfig config;
  std::vector<std::string> requested;
};

// The addresses of all interfaces in the manifests, including those of other nodes, in the order of the manifests:
// without an API server, two machines that get the same files must come to the same answer, so that no address is used
// twice. Requested addresses are set aside before any other is handed out.
//
// This holds as long as all machines were given the same files in the same order: to make it hold also when
// files are added, record the leases of all pods, not only of the local ones. Machines with different files
// must use different ranges.
std::map<Owner, Result<std::vector<Assigned>>> plan_addresses(const std::vector<AddressClaim>& claims,
                                                              const std::vector<state::AddressLease>& leases);

}  // namespace railbed::ipam
