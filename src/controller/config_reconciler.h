// SPDX-License-Identifier: Apache-2.0
// Keeps the conditions of SriovOperatorConfig and SriovNetworkPoolConfigs: what railbed does with each, and what it
// does not (config_effects.h, pools.h).
//
// Why: both kinds are few objects whose conditions depend on each other, so all of them are one task. What they say is
// carried out elsewhere, by those that ask ClusterSettings. Once the SR-IOV operator has gone, its finalizers are taken
// off of objects that are being deleted.
// Threading: as Reconciler. Failure: as Statuses.
#pragma once

#include <functional>
#include <string>

#include "controller/cluster_settings.h"
#include "controller/statuses.h"

namespace railbed::controller {

class ConfigReconciler : public Reconciler {
 public:
  static constexpr std::string_view kName = "operator configuration";
  // All outlive this. `pause`: between two looks. `verbosity` is called with the logLevel; 0: there is none.
  ConfigReconciler(Manager& manager, const Upstream& upstream, ClusterSettings& settings, kube::milliseconds pause,
                   std::function<void(int)> verbosity);

  std::string_view name() const override { return kName; }
  std::span<const kube::Right> rights() const override;
  std::span<const OptionalRead> optional_kinds() const override;
  void watch() override;
  bool reconcile(const std::string& key, std::stop_token stop) override;
  void add_all() override;

 private:
  bool write_config(const kube::ObjectPtr& object, const Settings& said, std::stop_token stop);
  bool write_pool(const kube::ObjectPtr& object, const Settings& said, std::stop_token stop);
  bool write(const kube::Resource& kind, const kube::ObjectPtr& object, const Readiness& readiness,
             std::stop_token stop);
  bool take_finalizer(const kube::Resource& kind, const kube::ObjectPtr& object, std::string_view finalizer,
                      std::stop_token stop);
  std::map<std::string, std::string> rdma_modes() const;
  void report_kept(const ConfigChoice& choice);

  Manager& manager_;
  const Upstream& upstream_;
  ClusterSettings& settings_;
  const kube::milliseconds pause_;
  const std::function<void(int)> verbosity_;
  Statuses statuses_;
  // Of reconcile()'s one call at a time.
  ConfigChoice::Source source_ = ConfigChoice::Source::kDefaults;
};

}  // namespace railbed::controller
