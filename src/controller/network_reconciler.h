// SPDX-License-Identifier: Apache-2.0
// Keeps a NetworkAttachmentDefinition per SriovNetwork and SriovIBNetwork, and their statuses.
//
// Why: networks and definitions that are applied together are one task; what is written is decided for all of them at
// once (networks.h). A cluster may lack one kind of networks, or that of definitions.
// Threading: as Reconciler. Failure: statuses, and an Event of each definition that is kept.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "controller/networks.h"
#include "controller/statuses.h"
#include "controller/upstream.h"

namespace railbed::controller {

class NetworkReconciler : public Reconciler {
 public:
  static constexpr std::string_view kName = "networks";

  struct Settings {
    std::string resource_prefix;
    kube::milliseconds retry;  // where the definition of a kind is being deleted
  };
  // All outlive this.
  NetworkReconciler(Manager& manager, const Upstream& upstream, Settings settings);

  std::string_view name() const override { return kName; }
  std::span<const kube::Right> rights() const override;
  std::span<const OptionalRead> optional_kinds() const override;
  void watch() override;
  bool reconcile(const std::string& key, std::stop_token stop) override;
  void add_all() override;

 private:
  void report_kept(const std::vector<kube::ObjectPtr>& definitions);
  bool write(const NetworksPlan& plan, std::stop_token stop);
  bool write_status(const NetworkOutcome& outcome, std::stop_token stop);

  Manager& manager_;
  const Upstream& upstream_;
  const Settings settings_;
  Statuses statuses_;
  std::mutex mutex_;
  std::set<std::string> kept_;  // UIDs of NetworkAttachmentDefinitions without network
};

}  // namespace railbed::controller
