// SPDX-License-Identifier: Apache-2.0
// The SR-IOV operator in the same cluster: whether it runs, in which namespaces, and on which nodes its config daemon
// does.
//
// Why: two operators that write the same objects would fight. It is known by its pods, and counts as running for a
// while after the last of them was seen, since a pod that moves to another node is away for a moment. The namespaces in
// which none runs are railbed's to serve (policy_namespaces.h).
// Threading: any thread. Failure: none.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/manager.h"
#include "controller/policy_namespaces.h"

namespace railbed::controller {

class Upstream : public Reconciler {
 public:
  // `quiet`: how long after the last of its pods was seen. `listed`: the namespaces that it may leave to railbed.
  Upstream(Manager& manager, std::vector<std::string> listed, kube::milliseconds quiet, kube::milliseconds look_period);

  bool runs() const;
  bool has_daemon(const std::string& node) const;
  PolicyNamespaces namespaces() const;

  std::string_view name() const override { return "SR-IOV operator"; }
  std::span<const kube::Right> rights() const override { return {}; }
  void watch() override;
  // Reports a change, and has everything looked at again.
  bool reconcile(const std::string& key, std::stop_token stop) override;
  void add_all() override;

 private:
  void take_operator(const kube::Change& change);
  void take_daemon(const kube::Change& change);
  void report_namespaces(const PolicyNamespaces& before, const PolicyNamespaces& now);
  void report_running(bool now);

  Manager& manager_;
  const std::vector<std::string> listed_;
  const kube::milliseconds quiet_, look_period_;
  mutable std::mutex mutex_;
  std::set<kube::ObjectKey> operators_;
  std::map<std::string, kube::Instant> seen_;                 // by namespace: when the last of them came or went
  std::map<std::string, std::set<kube::ObjectKey>> daemons_;  // by node
  bool reported_ = false;
  std::optional<PolicyNamespaces> reported_namespaces_;
};

// kube::node_of_pod() of a change's side; empty where there is no pod.
std::string node_of_pod(const kube::ObjectPtr& pod);

}  // namespace railbed::controller
