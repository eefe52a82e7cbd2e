// SPDX-License-Identifier: Apache-2.0
// The addresses of one interface, for each of railbed's IPAM types.
//
// Why one function: a railbed plugin, the meta plugin and a third-party plugin that calls the shim as its IPAM plugin
// must get the same result for the same input. What a request may add to the configuration is applied here, as each
// original does it:
//
//   host-local   runtimeConfig.ipRanges come before the configured sets; the addresses of runtimeConfig.ips,
//                args.cni.ips and CNI_ARGS IP are requested explicitly
//   whereabouts  the same for ips; CNI_ARGS IP (with a prefix length) is added
//   static       CNI_ARGS IP and GATEWAY are added; args.cni.ips replaces all, runtimeConfig.ips those too
//   dhcp         nothing here: the interface must exist first, see dhcp.h
//
// A repeated request of the same owner returns the same addresses.
// Threading: a Turn's thread.
// Failure: as ipam::assign()'s; Conflict for a range that other nodes may use (shared_ranges.h); Invalid with the
// location in the configuration; Io from host-local's files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/addresses/address_supply.h"
#include "agent/addresses/host_local.h"
#include "agent/engine.h"
#include "cni/add_result.h"
#include "cni/config.h"
#include "cni/request.h"
#include "doc/value.h"
#include "ipam/assign.h"

namespace railbed::agent {

struct AddressRequest {
  std::string network;  // the configuration's "name"
  doc::Value ipam;      // the plugin's "ipam"; null or empty: no addresses
  doc::Value runtime;   // "runtimeConfig", or null
  doc::Value args;      // "args.cni", or null
  std::map<std::string, std::string> cni_args;
  ipam::Owner owner;                                   // state::Sandbox::key(), and the interface's name in the pod
  std::optional<std::vector<ipam::Assigned>> planned;  // decided already: these, and none is chosen here
};

AddressRequest address_request(const cni::Request& request, const cni::PluginConfig& config, ipam::Owner owner);

struct Addresses {
  // They are taken in the allocator. For host-local they also have files and a lease in the store; other leases are put
  // by the caller (attach_pod does, given these as InterfaceRequest::addresses).
  std::vector<ipam::Assigned> assigned;
  cni::AddResult result;                        // addresses without `interface`, routes, dns
  bool dhcp = false;                            // call Dhcp::acquire once the interface exists and is up
  std::optional<HostLocal::Reservation> files;  // of host-local: until finish_addresses(), which fills in `assigned`
};

// What the interface needs of ranges that nodes share; nullopt: nothing.
std::optional<AddressNeed> need_of(const AddressRequest& request);

// In two steps, like HostLocal's, so that all networks of a pod share one transaction: begin_addresses() inside it,
// finish_addresses() after its commit. Without a commit, release_addresses() forgets what was chosen.
Result<Addresses> begin_addresses(Engine::Turn& turn, HostLocal& host_local, HostLocal::Locks& locks,
                                  const AddressRequest& request);
Result<void> finish_addresses(Engine::Turn& turn, HostLocal& host_local, Addresses& addresses);
// Both steps, for one interface.
Result<Addresses> addresses_for(Engine::Turn& turn, HostLocal& host_local, const AddressRequest& request);

// A "dns" in the plugin's own configuration replaces that of its IPAM.
void prefer_own_dns(cni::AddResult& result, const doc::Value& plugin);

// Called after an ADD that failed and after a DEL: releases the addresses of the owners, unless the store has an
// attachment of the interface (which could not be undone, so it keeps its addresses). Nothing to release is success.
Result<void> release_addresses(Engine::Turn& turn, HostLocal& host_local, const std::vector<ipam::Owner>& owners);
// All of a sandbox, whatever interfaces had them: an earlier DEL or an ADD that failed may have been kept from it.
Result<void> release_addresses_of(Engine::Turn& turn, HostLocal& host_local, const std::string& sandbox);

}  // namespace railbed::agent
