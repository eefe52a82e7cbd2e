// SPDX-License-Identifier: Apache-2.0
// Keeps the status of policies: what became of each on the nodes that it selects (policy_status.h).
//
// Threading: as Reconciler. Failure: as Statuses.
#pragma once

#include "controller/outcomes.h"
#include "controller/policies.h"
#include "controller/statuses.h"
#include "controller/upstream.h"

namespace railbed::controller {

class PolicyReconciler : public Reconciler {
 public:
  static constexpr std::string_view kName = "policy status";
  // All outlive this. `pause`: between two writes of one policy's status.
  PolicyReconciler(Manager& manager, const Upstream& upstream, Policies& policies, const Outcomes& outcomes,
                   kube::milliseconds pause);

  std::string_view name() const override { return kName; }
  std::span<const kube::Right> rights() const override;
  void watch() override;
  bool reconcile(const std::string& key, std::stop_token stop) override;  // "namespace/name"
  void add_all() override;

 private:
  Manager& manager_;
  const Upstream& upstream_;
  Policies& policies_;
  const Outcomes& outcomes_;
  const kube::milliseconds pause_;
  Statuses statuses_;
};

}  // namespace railbed::controller
