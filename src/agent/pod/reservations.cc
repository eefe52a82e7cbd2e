// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/reservations.h"

namespace railbed::agent {
namespace {

Result<void> put_missing(Engine::Turn& turn, const node::PlannedAddresses& planned,
                         const std::vector<state::AddressLease>& leases) {
  for (const state::AddressLease& lease : node::missing_leases(planned, leases)) {
    TRY(turn.store().put_lease(lease));
    turn.addresses().take(lease.pool, lease.address, {lease.pod, lease.interface});
  }
  return {};
}

}  // namespace

Result<std::optional<std::vector<ipam::Assigned>>> Reservations::take(Engine::Turn& turn, PodSource& source,
                                                                      const std::string& pod,
                                                                      const ipam::Owner& sandbox) {
  std::optional<std::vector<ipam::Assigned>> none;
  std::shared_ptr<const AddressClaims> claims = TRY(source.address_claims());
  if (claims == nullptr) return none;
  if (claims != claims_) {
    const std::vector<state::AddressLease> leases = TRY(turn.store().all_leases());
    claims_ = nullptr;
    planned_ = node::planned_addresses(*claims, leases);
    TRY(put_missing(turn, planned_, leases));
    claims_ = std::move(claims);
  }
  const ipam::Owner owner{pod, sandbox.interface};
  auto own = planned_.find(owner);
  if (own == planned_.end()) return none;
  if (!own->second.has_value()) return fail(own->second.error());
  if (sandbox.pod != pod) {  // from the reservation to the sandbox
    TRY(turn.store().forget_leases(owner.pod, owner.interface));
    turn.addresses().release(owner);
  }
  for (const ipam::Assigned& one : *own->second)
    if (!one.pool.empty()) turn.addresses().take(one.pool, one.address.address, sandbox);
  return std::optional(*own->second);
}

Result<void> Reservations::reserve(Engine::Turn& turn, PodSource& source, const std::string& pod) {
  if (claims_ == nullptr || TRY(source.address_claims()) != claims_) return {};
  node::PlannedAddresses of_pod;
  for (auto one = planned_.lower_bound({pod, ""}); one != planned_.end() && one->first.pod == pod; ++one)
    of_pod.insert(*one);
  return of_pod.empty() ? Result<void>{} : put_missing(turn, of_pod, TRY(turn.store().all_leases()));
}

}  // namespace railbed::agent
