// SPDX-License-Identifier: Apache-2.0
// Keeps a SriovNetworkNodeState per node: its spec from the policies.
//
// Why: all decisions are pure (node_states.h); here is only when they are made and what is written.
// After a policy was deleted nothing is written for nodes until no more are deleted for a moment (settle.h).
// Threading: as Reconciler. Failure: held() and Events say what is not written and why.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "controller/cluster_settings.h"
#include "controller/drain_notes.h"
#include "controller/node_states.h"
#include "controller/outcomes.h"
#include "controller/policies.h"
#include "controller/settle.h"
#include "controller/upstream.h"

namespace railbed::controller {

class NodeReconciler : public Reconciler {
 public:
  static constexpr std::string_view kName = "node state";

  struct NodeRules {
    graph::Labels node_selector;       // the nodes that get a node state
    kube::milliseconds settle;         // after a policy was deleted
    kube::milliseconds status_pause;   // between two writes of one policy's status
    std::chrono::seconds keep_states;  // of nodes that no longer exist
  };
  // All outlive this.
  NodeReconciler(Manager& manager, const Upstream& upstream, Policies& policies, ClusterSettings& cluster_settings,
                 Outcomes& outcomes, const DrainNotes& drains, NodeRules rules);

  // Why a node state stays as it is, by node.
  std::map<std::string, std::string> held() const;

  std::string_view name() const override { return kName; }
  std::span<const kube::Right> rights() const override;
  std::span<const OptionalRead> optional_kinds() const override;
  void watch() override;
  bool reconcile(const std::string& key, std::stop_token stop) override;  // a node's name, or kSettle
  void add_all() override;
  void opened(const std::stop_token& stop) override;

 private:
  // What came of the last write of a node's state, against two who write in turn.
  struct LastWrite {
    size_t hash = 0;
    kube::Instant at{};
    int times = 0;
  };

  void policy_changed(const kube::Change& change);
  void add_node(const std::string& node);
  void add_nodes_of(const graph::Labels& selector);
  void settings_changed(const kube::Change& change);
  bool settle(std::stop_token stop);
  bool is_namespace_going() const;
  bool look_at_node(const std::string& node, std::stop_token stop);
  bool write(const std::string& node, const kube::ObjectPtr& state, NodeDecision decision, std::stop_token stop);
  bool is_too_soon(const std::string& node, const doc::Value& body);
  enum class Reported : uint8_t { kByAnEvent, kInTheLog };
  void report_held(const std::string& node, const kube::ObjectPtr& state, const std::string& why, Reported reported);

  Manager& manager_;
  const Upstream& upstream_;
  Policies& policies_;
  ClusterSettings& cluster_settings_;
  Outcomes& outcomes_;
  const DrainNotes& drains_;
  const NodeRules rules_;

  mutable std::mutex mutex_;
  kube::Instant settled_at_{};
  SettleState settle_;
  std::map<std::string, LastWrite> last_writes_;
  std::map<std::string, std::string> held_;
};

}  // namespace railbed::controller
