// SPDX-License-Identifier: Apache-2.0
// Carries out drains: pods that are in the way of a change of VFs are evicted, a bounded number of nodes at a time.
//
// Why: the decisions are pure (src/drain): waves() says which nodes go, step() what each does next. One task looks at
// all nodes, since a wave is about all of them. What is decided is stored in the node state first and carried out then,
// so that an operator that is killed anywhere goes on where it was; the answers to evictions are in memory, and an
// eviction whose answer is lost is sent again. Agents read the stored state, and withdraw VFs by it. Pods are listed at
// each pass, and only while some node waits: a cache of all pods would be the largest of all. Each pass has a limit of
// writes. Nothing is evicted unless an administrator asked for it (why_no_drains) and the rights are there, which is
// tried with a pod that cannot exist, before VFs are withdrawn.
// Restarts are not ordered yet, and claims of pods are not resolved: docs/drains.md.
// Threading: as Reconciler; its only key is never looked at by two threads. Failure: what blocks is in the condition of
// the node state (an annotation), in that of the policies, and in Events.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/drain_inputs.h"
#include "controller/drain_notes.h"
#include "controller/manager.h"
#include "controller/upstream.h"
#include "drain/agent_report.h"

namespace railbed::controller {

struct DrainRules {
  bool wanted = false;               // --drain: also without a SriovOperatorConfig
  std::string resource_prefix = {};  // of policies
  kube::milliseconds period{5000};   // between two passes while some node waits
  drain::DrainLimits limits = {};
};

class DrainReconciler : public Reconciler {
 public:
  static constexpr std::string_view kName = "drain";
  // All outlive this.
  DrainReconciler(Manager& manager, const Upstream& upstream, ClusterSettings& settings, DrainNotes& notes,
                  DrainRules rules);

  std::string_view name() const override { return kName; }
  std::span<const kube::Right> rights() const override;
  std::span<const OptionalRead> optional_kinds() const override;
  void watch() override;
  bool reconcile(const std::string& key, std::stop_token stop) override;
  void add_all() override;

 private:
  // A node whose drain waits, goes on, or is to be cleared away.
  struct Work {
    kube::ObjectPtr state;  // the node state
    WaitingChange change;
    drain::AgentReport report;
    bool tainted = false;
    std::string unreadable;  // why what is stored cannot be read
  };
  struct Pass {
    drain::Time now{};
    std::shared_ptr<const Settings> settings;
    std::optional<std::string> off;                // why no pod is evicted
    std::map<std::string, drain::NodeView> nodes;  // all, by name
    std::map<std::string, Work> work;
    int left = 0;  // writes that it may still make
  };

  void look_at_nodes(Pass& pass);
  void look_at_state(Pass& pass, const kube::ObjectPtr& state, const kube::ObjectPtr& node, drain::NodeView& view);
  bool look_at_pods(Pass& pass, std::stop_token stop);
  enum class Rights : uint8_t { kNotKnown, kNone, kAll };
  Rights may_evict(std::stop_token stop);
  void end_all(Pass& pass);
  bool carry_out_all(Pass& pass, const std::stop_token& stop);
  // False: it is not stored, so nothing was done.
  bool carry_out(Pass& pass, const std::string& node, const drain::Turn& turn, std::stop_token stop);
  bool store(const Work& one, const std::string& node, const drain::Step& step, const std::string& reason,
             std::stop_token stop);
  void evict(Pass& pass, const std::string& node, const drain::Action& action, std::stop_token stop);
  void set_taint(const std::string& node, bool wanted, std::stop_token stop);
  void note(const std::string& node, const std::string& text);
  void report_unreadable(const Work& one, const std::string& node);
  void later() { manager_.later(kName, "", rules_.period); }

  Manager& manager_;
  const Upstream& upstream_;
  ClusterSettings& settings_;
  DrainNotes& notes_;
  const DrainRules rules_;

  struct Wanted {
    std::string change;
    drain::Time since{};
  };
  std::map<std::string, drain::EvictionSeen> evictions_;  // by uid
  std::map<std::string, Wanted> wanted_;                  // by node
  std::map<std::string, drain::Time> cordoned_;           // by node: when it was first seen
  std::map<std::string, std::string> unreadable_;         // by node: what was said
  std::set<std::string> noted_;                           // nodes
  bool has_rights_ = false;
  std::optional<kube::Instant> tried_rights_;
};

}  // namespace railbed::controller
