// SPDX-License-Identifier: Apache-2.0
// Ends leases of addresses whose machines no longer exist (cell_reclaim.h), and removes what they left in whereabouts'
// pools (pool_entries.h).
//
// Threading: as Reconciler. Failure: status() and Events of Nodes.
#pragma once

#include <string>

#include "controller/cell_reclaim.h"
#include "controller/manager.h"

namespace railbed::controller {

class CellReconciler : public Reconciler {
 public:
  static constexpr std::string_view kName = "leases of addresses";

  // `gather`: Nodes that change together are one look at leases.
  CellReconciler(Manager& manager, ReclaimSettings settings, kube::milliseconds gather);

  ReclaimStatus status() const { return cells_.status(); }

  std::string_view name() const override { return kName; }
  std::span<const kube::Right> rights() const override;
  void watch() override;
  bool reconcile(const std::string& key, std::stop_token stop) override;
  void add_all() override;

 private:
  CellReclaimer::Dependencies deps();
  void report(const EndedLeases& ended);
  void clean_pools(std::stop_token stop);

  Manager& manager_;
  const kube::milliseconds gather_;
  CellReclaimer cells_;
  std::string pools_error_;  // of reconcile()'s one call at a time: why whereabouts' pools were not looked through last
};

}  // namespace railbed::controller
