// SPDX-License-Identifier: Apache-2.0
// A cluster as a value: an operator that is made of waves() and step(), agents, a scheduler, budgets. For tests and the
// benchmark.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "drain/groups.h"
#include "drain/step.h"
#include "drain/waves.h"

namespace railbed::drain::testing {

inline constexpr const char* kRail = "openshift.io/rail0";

struct SimNode {
  std::string name;
  int capacity = 8;         // VFs
  bool to_change = true;    // the policy selects it
  bool changed = false;     // its VFs are the new ones
  bool withdrawn = false;   // it offers no free VF
  bool stuck = false;       // its agent applies nothing
  std::string stored = {};  // the annotation
  std::vector<DrainPod> pods = {};
  bool dirty = true;  // its pods changed since the operator looked
};

struct Workload {
  int replicas = 0;
  bool together = false;
  bool never_evicted = false;  // its PodDisruptionBudget allows none
  int interruptions = 0;
  std::map<int, int> evicted = {};  // how often, by replica
  Time last_eviction = {};
};

struct SimPool {
  std::string name;
  Bound bound;
  std::vector<SimNode> nodes = {};
};

class Simulator {
 public:
  std::vector<SimPool> pools;
  std::map<std::string, Workload> workloads;
  std::map<std::string, int> sent;           // evictions by uid
  std::vector<std::string> violations = {};  // of what must never happen
  Time now{std::chrono::seconds(1'000'000)};
  DrainLimits limits = {};
  std::optional<int> kill_after = {};  // stores and actions of the operator
  int stores = 0, evictions = 0, kills = 0, passes = 0;
  size_t most_at_once = 0;

  // A pod of the workload, with one VF. "train-3" is replica 3 of train.
  void place(SimNode& node, const std::string& workload, int replica) {
    const bool together = workloads.at(workload).together;
    DrainPod pod{.ns = "ns",
                 .name = fmt::format("{}-{}", workload, replica),
                 .uid = fmt::format("uid-{}", ++last_uid_),
                 .node = node.name,
                 .owner = OwnerRef{.group = "apps", .kind = "StatefulSet", .name = workload, .uid = workload},
                 .requests = {kRail}};
    if (together) pod.labels["batch.kubernetes.io/job-name"] = workload;
    replica_of_[pod.uid] = {workload, replica};
    node.pods.push_back(std::move(pod));
    node.dirty = true;
  }
  // A pod that the change does not concern.
  void place_other(SimNode& node, const std::string& name) {
    node.pods.push_back({.ns = "ns",
                         .name = name,
                         .uid = fmt::format("uid-{}", ++last_uid_),
                         .node = node.name,
                         .owner = OwnerRef{.group = "apps", .kind = "StatefulSet", .name = name, .uid = name},
                         .requests = {"openshift.io/other"}});
    node.dirty = true;
  }

  bool is_done() const {
    for (const SimPool& pool : pools)
      for (const SimNode& node : pool.nodes)
        if (node.to_change && (!node.changed || !node.stored.empty() || node.withdrawn)) return false;
    return pending_.empty();
  }

  // Until the end, or `passes` passes; whether it ended.
  bool run(int most_passes) {
    for (int i = 0; i < most_passes; ++i) {
      pass();
      tick();
      if (is_done()) return true;
    }
    return false;
  }

  // The operator looks at everything once.
  void pass() {
    ++passes;
    refresh();
    const Waves turns = waves(view_, now);
    check_spreads();
    for (size_t p = 0; p < pools.size(); ++p) {
      count_slots(p);
      for (size_t n = 0; n < pools[p].nodes.size(); ++n) {
        const NodeView& seen = view_[p].nodes[n];
        const Turn& turn = turns.nodes.at(seen.name);
        SimNode& node = pools[p].nodes[n];
        const bool at_rest = seen.state == NodeDrain{} && !node.withdrawn;
        if (at_rest && (turn.kind == Turn::Kind::kNone || turn.kind == Turn::Kind::kWait)) continue;
        if (!act(node, seen, turn)) return;
      }
    }
  }

  // Everything else: kubelets, agents, controllers, the scheduler.
  void tick() {
    now += std::chrono::seconds(5);
    std::vector<SimNode*> with_room;
    for (SimPool& pool : pools)
      for (SimNode& node : pool.nodes) {
        end_pods(node);
        run_agent(node);
        if (!node.withdrawn && std::ssize(node.pods) < node.capacity) with_room.push_back(&node);
      }
    while (!pending_.empty() && !with_room.empty()) {
      SimNode* node = with_room.back();
      const auto [workload, replica] = pending_.back();
      pending_.pop_back();
      place(*node, workload, replica);
      if (std::ssize(node->pods) >= node->capacity) with_room.pop_back();
    }
  }

  size_t waiting_pods() const { return pending_.size(); }
  const std::vector<PoolView>& view() {
    refresh();
    return view_;
  }

 private:
  using Replica = std::pair<std::string, int>;

  void refresh() {
    if (view_.empty())
      for (const SimPool& pool : pools) {
        view_.push_back({.name = pool.name, .bound = pool.bound});
        for (const SimNode& node : pool.nodes) view_.back().nodes.push_back({.name = node.name});
      }
    for (size_t p = 0; p < pools.size(); ++p)
      for (size_t n = 0; n < pools[p].nodes.size(); ++n) refresh(pools[p].nodes[n], view_[p].nodes[n]);
  }

  static void refresh(SimNode& node, NodeView& seen) {
    if (!node.dirty) return;
    node.dirty = false;
    Result<NodeDrain> state = read_node_drain(node.stored);
    RAILBED_CHECK(state.has_value());
    seen.state = std::move(*state);
    seen.change = node.to_change && !node.changed ? "policy-2" : "";
    seen.resources = seen.change.empty() ? Resources{} : Resources{kRail};
    Affected affected = affected_pods({.node = node.name, .resources = seen.resources}, node.pods, {});
    set_units(affected, node.pods, {});
    seen.pods = std::move(affected.pods);
    seen.withdrawn = node.withdrawn;
  }

  // Of one owner, pods of one node only.
  void check_spreads() {
    std::map<std::string_view, std::string_view> node_of;
    for (const PoolView& pool : view_)
      for (const NodeView& node : pool.nodes) {
        if (!is_active(node.state)) continue;
        for (const std::string& spread : node.state.spreads)
          if (!node_of.emplace(spread, node.name).second)
            violations.push_back(fmt::format("{} is evicted on two nodes", spread));
      }
  }

  void count_slots(size_t pool) {
    size_t used = 0;
    for (const NodeView& node : view_[pool].nodes) used += is_active(node.state) && node.state.slot ? 1 : 0;
    most_at_once = std::max(most_at_once, used);
    if (used > nodes_allowed(pools[pool].bound, pools[pool].nodes.size()))
      violations.push_back(fmt::format("pool {} has {} nodes in progress", pools[pool].name, used));
  }

  // False: the operator was killed.
  bool act(SimNode& node, const NodeView& seen, const Turn& turn) {
    const Step next = step(seen.state, {.now = now,
                                        .change = seen.change,
                                        .resources = seen.resources,
                                        .pods = seen.pods,
                                        .evictions = seen_evictions_[node.name],
                                        .turn = turn,
                                        .withdrawn = node.withdrawn,
                                        .limits = limits});
    if (next.next != seen.state) {
      if (killed()) return false;
      node.stored = to_text(next.next);
      node.dirty = true;
      ++stores;
    }
    for (const Action& action : next.actions) {
      if (killed()) return false;
      if (action.kind == Action::Kind::kEvict) evict(node, action);
    }
    return true;
  }

  bool killed() {
    if (!kill_after.has_value() || (*kill_after)-- > 0) return false;
    kill_after.reset();
    ++kills;
    seen_evictions_.clear();
    return true;
  }

  void evict(SimNode& node, const Action& action) {
    ++evictions;
    ++sent[action.uid];
    EvictionSeen& answer = seen_evictions_[node.name][action.uid];
    answer = {.answer = EvictionSeen::Answer::kEnded, .at = now};
    for (DrainPod& pod : node.pods) {
      if (pod.uid != action.uid) continue;
      const auto replica = replica_of_.find(pod.uid);
      if (replica == replica_of_.end()) {
        violations.push_back(fmt::format("pod {} was evicted, which the change does not concern", pod.name));
        continue;
      }
      Workload& workload = workloads.at(replica->second.first);
      answer.answer = workload.never_evicted ? EvictionSeen::Answer::kBudget : EvictionSeen::Answer::kAccepted;
      if (workload.never_evicted) continue;
      if (!node.withdrawn) violations.push_back(fmt::format("pod {} was evicted before the withdrawal", pod.name));
      pod.ending = true;
      node.dirty = true;
      count_interruption(workload, replica->second);
    }
  }

  // All pods of a job that are evicted within one minute are one interruption.
  void count_interruption(Workload& workload, const Replica& replica) {
    if (workload.together && now - workload.last_eviction > std::chrono::seconds(60)) ++workload.interruptions;
    workload.last_eviction = now;
    ++workload.evicted[replica.second];
  }

  void end_pods(SimNode& node) {
    std::erase_if(node.pods, [&](const DrainPod& pod) {
      if (!pod.ending) return false;
      pending_.push_back(replica_of_.at(pod.uid));
      node.dirty = true;
      return true;
    });
  }

  void run_agent(SimNode& node) {
    if (node.stored.empty() && !node.withdrawn) return;
    const NodeDrain state = *read_node_drain(node.stored);
    const bool withdrawn = !state.resources.empty();
    if (withdrawn != node.withdrawn) node.dirty = true;
    node.withdrawn = withdrawn;
    if (state.phase != Phase::kChanging || node.changed || node.stuck) return;
    for (const DrainPod& pod : node.pods)
      if (pod.requests.contains(kRail))
        violations.push_back(fmt::format("node {} changes under pod {}", node.name, pod.name));
    node.changed = true;
    node.dirty = true;
  }

  std::vector<PoolView> view_;
  std::map<std::string, std::map<std::string, EvictionSeen>> seen_evictions_;  // by node and uid
  std::map<std::string, Replica> replica_of_;                                  // by uid
  std::vector<Replica> pending_;
  int last_uid_ = 0;
};

// Pools of nodes; a job on `job_nodes` nodes after the other, with two pods on each, and a service with a pod on every
// fourth node.
inline Simulator big_cluster(size_t pools, size_t nodes, size_t job_nodes, Bound bound) {
  Simulator out;
  for (size_t p = 0; p < pools; ++p) {
    SimPool& pool = out.pools.emplace_back(SimPool{.name = fmt::format("pool{}", p), .bound = bound});
    out.workloads[fmt::format("web{}", p)] = {};
    for (size_t n = 0; n < nodes; ++n) {
      SimNode& node = pool.nodes.emplace_back(SimNode{.name = fmt::format("p{}n{:03}", p, n)});
      const std::string job = fmt::format("job{}x{}", p, n / job_nodes);
      out.workloads[job].together = true;
      for (int i = 0; i < 2; ++i) out.place(node, job, out.workloads[job].replicas++);
      if (n % 4 == 0) {
        const std::string service = fmt::format("web{}", p);
        out.place(node, service, out.workloads[service].replicas++);
      }
      out.place_other(node, fmt::format("other-{}-{}", p, n));
    }
  }
  return out;
}

}  // namespace railbed::drain::testing
