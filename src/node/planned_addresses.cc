// SPDX-License-Identifier: Apache-2.0
#include "node/planned_addresses.h"

#include <set>

#include "api/ipam.h"
#include "graph/graph.h"
#include "state/sandbox.h"

namespace railbed::node {

namespace {

bool is_planned(const api::IpamConfig& config, PlannedTypes types) {
  return types == PlannedTypes::kAll || config.type == api::IpamType::kWhereabouts ||
         config.type == api::IpamType::kStatic;
}

}  // namespace

std::vector<ipam::AddressClaim> address_claims(const graph::Catalog& catalog, PlannedTypes types) {
  std::vector<ipam::AddressClaim> claims;
  for (const api::Pod* pod : catalog.pods)
    for (const graph::PodNetwork& network : graph::networks_of(catalog, *pod)) {
      if (network.network == nullptr) continue;
      auto config = api::read_ipam(network.network->definition.config, network.key);
      if (!config || !is_planned(*config, types)) continue;
      ipam::AddressClaim claim{.owner = {pod->key(), network.interface}, .network = network.key, .config = *config};
      for (const api::Field<std::string>& address : network.selection->ips) claim.requested.push_back(*address);
      claims.push_back(std::move(claim));
    }
  return claims;
}

PlannedAddresses planned_addresses(const std::vector<ipam::AddressClaim>& claims,
                                   std::vector<state::AddressLease> leases) {
  for (state::AddressLease& lease : leases)
    if (std::string pod = state::Sandbox::of_key(lease.pod).pod; !pod.empty()) lease.pod = std::move(pod);
  return ipam::plan_addresses(claims, leases);
}

std::vector<state::AddressLease> missing_leases(const PlannedAddresses& planned,
                                                const std::vector<state::AddressLease>& leases) {
  std::set<std::pair<std::string, IpAddress>> held;
  for (const state::AddressLease& lease : leases) held.emplace(lease.pool, lease.address);
  std::vector<state::AddressLease> missing;
  for (const auto& [owner, assigned] : planned) {
    if (!assigned) continue;
    for (const ipam::Assigned& one : *assigned)
      if (!one.pool.empty() && held.emplace(one.pool, one.address.address).second)
        missing.push_back({one.pool, one.address.address, owner.pod, owner.interface});
  }
  return missing;
}

}  // namespace railbed::node
