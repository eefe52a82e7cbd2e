// SPDX-License-Identifier: Apache-2.0
#include "controller/cell_reconciler.h"

#include "base/format.h"
#include "controller/pool_entries.h"

namespace railbed::controller {

using kube::Change;
using kube::milliseconds;

CellReconciler::CellReconciler(Manager& manager, ReclaimSettings settings, milliseconds gather)
    : manager_(manager), gather_(gather), cells_(deps(), settings) {}

CellReclaimer::Dependencies CellReconciler::deps() {
  return {.reader = manager_.reader(),
          .writer = manager_.writer(),
          .clock = manager_.clock(),
          .node = [this](const std::string& node) { return manager_.cluster().node(node); },
          .may_write = [this] { return manager_.may_write(); },
          .wrote = [this](const std::string& what,
                          const kube::ApiError* error) { manager_.wrote(kube::kAddressCells, what, error); },
          .ended = [this](const EndedLeases& ended) { report(ended); }};
}

void CellReconciler::report(const EndedLeases& ended) {
  const std::string note =
      fmt::format("{} addresses in {} cells leased by node {} (machine {}) were released: {}", ended.addresses,
                  ended.cells, ended.holder.node, ended.holder.system_uuid, ended.why);
  manager_.report(Importance::kWarning, note);
  const std::string uid = ended.node != nullptr ? kube::uid_of(*ended.node) : "";
  manager_.event(kube::EventType::kWarning, "AddressesFreed" + ended.reason, note,
                 {"v1", "Node", {"", ended.holder.node}, uid});
}

std::span<const kube::Right> CellReconciler::rights() const {
  using kube::Verb;
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kNodes, .verbs = Verb::kGet, .why = "get: before a lease of addresses ends"},
      {.kind = kube::kAddressCells,
       .verbs = Verb::kGet | Verb::kList | Verb::kUpdate | Verb::kDelete,
       .also = "override",
       .why = "leases of machines that are gone; override: agent-limits.yaml does not apply"},
      // Entries of machines that are gone.
      {.kind = kube::kIpPools, .verbs = Verb::kList, .granted_by = kube::GrantedBy::kSharing},
      {.kind = kube::kIpPools,
       .verbs = Verb::kUpdate,
       .where = kube::Where::kPoolsNamespace,
       .granted_by = kube::GrantedBy::kSharing},
  };
  return kRights;
}

void CellReconciler::watch() {
  manager_.cluster().observe(Known::kNodes, [this](const Change& change) {
    const std::set<std::string> machines = machines_gone_by(change);
    if (machines.empty()) return;
    cells_.concern(machines);
    manager_.later(name(), "", gather_);
  });
}

void CellReconciler::add_all() {
  manager_.later(name(), "");
}

bool CellReconciler::reconcile(const std::string& /*key*/, std::stop_token stop) {
  const std::string before = cells_.status().error;
  const Result<milliseconds> next = cells_.look(stop);
  if (next.has_value()) {
    clean_pools(std::move(stop));
    manager_.later(name(), "", *next);
    return true;
  }
  if (next.error().code != Code::kCanceled && next.error().story() != before)
    manager_.report(Importance::kWarning, "leases of addresses: " + next.error().story());
  return false;
}

// What fails here is done with the next look.
void CellReconciler::clean_pools(std::stop_token stop) {
  const Result<size_t> gone = take_stale_pool_entries(
      {manager_.reader(), manager_.writer(), [this] { return manager_.may_write(); }}, std::move(stop));
  std::string error = gone.has_value() || gone.error().code == Code::kCanceled ? "" : gone.error().story();
  if (!error.empty() && error != pools_error_) manager_.report(Importance::kWarning, "reserved addresses: " + error);
  pools_error_ = std::move(error);
  if (gone.has_value() && *gone > 0)
    manager_.report(Importance::kInfo, fmt::format("released {} expired reservations in whereabouts' pools", *gone));
}

}  // namespace railbed::controller
