// SPDX-License-Identifier: Apache-2.0
// Any sequence of changes ends in the node states that the graph says and that a fresh start finds right. Each change
// touches the nodes that it concerns by the operator's own rules, over objects in memory.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/policy.h"
#include "controller/node_states.h"
#include "controller/test_cluster.h"
#include "doc/members.h"
#include "graph/graph.h"

namespace railbed::controller {
namespace {

using namespace testing;
using Action = NodeDecision::Action;

int between(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}
std::string one_of(const std::vector<std::string>& choices) {
  return choices[static_cast<size_t>(between(0, static_cast<int>(choices.size()) - 1))];
}

Value arbitrary_policy() {
  const int vfs = between(1, 8);
  const std::string range = between(0, 1) ? fmt::format("#0-{}", between(0, vfs - 1)) : "";
  return policy(
      fmt::format("policy{}", between(0, 3)),
      fmt::format(
          R"("numVfs": {}, "priority": {}, "mtu": {}, "nicSelector": {{"pfNames": ["{}{}"]}}, "nodeSelector": {})", vfs,
          between(0, 2), between(0, 1) ? 1500 : 9000, one_of({"p0", "p1", "p2"}), range,
          one_of({"{}", R"({"rack": "a"})", R"({"rack": "b"})"})));
}

// The API server and the operator's reactions to it.
struct ModelCluster {
  kube::Objects policies;
  std::map<std::string, Value> nodes, states;
  std::set<std::string> due;
  int version = 0;
  int writes = 0;

  void concerns(const Value* policy) {
    if (policy == nullptr) return;
    for (const auto& [name, node] : nodes)
      if (graph::labels_match(node_selector_of(*policy), kube::labels_of(node))) due.insert(name);
  }
  void put_policy(Value policy) {
    const kube::ObjectKey key = kube::key_of(policy);
    const auto known = policies.find(key);
    if (known != policies.end() && asks_the_same(*known->second, policy)) return;
    if (known != policies.end()) concerns(known->second.get());
    concerns(&policy);
    policies[key] = std::make_shared<const Value>(std::move(policy));
  }
  void drop_policy(const std::string& name) {
    const auto known = policies.find({"op", name});
    if (known == policies.end() || policies.size() == 1) return;  // without policies specs stay: a test of its own
    concerns(known->second.get());
    policies.erase(known);
  }
  void put_node(const std::string& name, const std::string& rack) {
    nodes[name] = node(name, {{"rack", rack}});
    due.insert(name);
  }
  void report(const std::string& name, std::vector<facts::Nic> nics) {
    const auto state = states.find(name);
    if (state == states.end()) return;
    state->second.set("status", status_of(name, std::move(nics)));
    due.insert(name);
  }
  NodeDecision decision_of(const std::string& name) {
    const auto node = nodes.find(name), state = states.find(name);
    return decide({.name = name,
                   .ns = "op",
                   .node = node != nodes.end() ? &node->second : nullptr,
                   .state = state != states.end() ? &state->second : nullptr,
                   .now = kube::WallTime(std::chrono::hours(1))},
                  PolicySet(policies, {}));
  }
  void carry_out(const std::string& name, const NodeDecision& decision) {
    if (decision.action == Action::kNone) return;
    ++writes;
    due.insert(name);  // the cache reports it
    Value& state = states.try_emplace(name, node_state(name)).first->second;
    Value& meta = *state.find("metadata");
    meta.set("resourceVersion", std::to_string(++version));
    if (decision.action == Action::kApply) {
      state.set("spec", *decision.body.find("spec"));
      if (const Value* annotations = decision.body.find("metadata")->find("annotations"))
        meta.set("annotations", *annotations);
    }
    if (decision.action == Action::kPatch) {
      Value& annotations = meta.set("annotations", Value::object());
      for (const auto& [key, span, value] : *decision.body.find("metadata")->find("annotations")->as_object())
        if (!value.is_null()) annotations.set(key, value);
    }
  }
  void work() {
    for (int i = 0; !due.empty(); ++i) {
      RC_ASSERT(i < 200);
      const std::string name = *due.begin();
      due.erase(due.begin());
      carry_out(name, decision_of(name));
    }
  }
};

// What the policies say for a node, by the graph alone.
std::string direct(const ModelCluster& cluster, const std::string& name) {
  api::Objects objects;
  doc::Diagnostics found;
  for (const auto& [key, policy] : cluster.policies) objects.policies.push_back(*api::parse_policy(*policy, found));
  const graph::Catalog catalog = graph::index(objects, {}, found);
  const auto state = api::parse_node_state(cluster.states.at(name), found);
  const facts::NodeFacts facts = graph::facts_of(*state, kube::labels_of(cluster.nodes.at(name)));
  return doc::to_json(api::node_state_spec(graph::state_of(graph::resolve(catalog, facts, found))));
}

std::vector<facts::Nic> arbitrary_nics() {
  std::vector<facts::Nic> out;
  for (int i = 0; i <= between(0, 2); ++i) {
    const std::string name = fmt::format("p{}", i);
    out.push_back(between(0, 1) ? graph::examples::nic(name, i + 1) : graph::examples::infiniband(name, i + 1));
  }
  return out;
}

RC_GTEST_PROP(OperatorProperty, AnySequenceEndsAsAFreshStart, ()) {
  ModelCluster cluster;
  cluster.put_policy(arbitrary_policy());
  for (const char* name : {"n1", "n2", "n3"}) cluster.put_node(name, one_of({"a", "b", "c"}));
  const int steps = between(1, 25);
  for (int i = 0; i < steps; ++i) {
    const std::string name = one_of({"n1", "n2", "n3"});
    switch (between(0, 5)) {
      case 0:
        cluster.drop_policy(fmt::format("policy{}", between(0, 3)));
        break;
      case 1:
        cluster.nodes.erase(name);
        cluster.due.insert(name);
        break;
      case 2:
        cluster.put_node(name, one_of({"a", "b", "c"}));
        break;
      case 3:
        cluster.report(name, arbitrary_nics());
        break;
      default:
        cluster.put_policy(arbitrary_policy());
    }
    if (between(0, 2) == 0) cluster.work();
  }
  for (const char* name : {"n1", "n2", "n3"}) {
    cluster.put_node(name, one_of({"a", "b", "c"}));
    cluster.work();
    cluster.report(name, arbitrary_nics());
  }
  cluster.work();
  for (const char* name : {"n1", "n2", "n3"})
    RC_ASSERT(doc::to_json(*cluster.states.at(name).find("spec")) == direct(cluster, name));
  // A process that starts again looks at everything and finds nothing to write.
  for (const char* name : {"n1", "n2", "n3"}) RC_ASSERT(cluster.decision_of(name).action == Action::kNone);
  // An operator that starts with unowned specs arrives at the same.
  ModelCluster fresh = cluster;
  for (auto& [name, state] : fresh.states) {
    state.set("spec", Value::object());
    fresh.due.insert(name);
  }
  fresh.work();
  for (const char* name : {"n1", "n2", "n3"})
    RC_ASSERT(*fresh.states.at(name).find("spec") == *cluster.states.at(name).find("spec"));
  RC_CLASSIFY(cluster.writes > 10, "many writes");
}

}  // namespace
}  // namespace railbed::controller
