// SPDX-License-Identifier: Apache-2.0
// In a cluster the operator decides on what a node's status reports, and the node plans from its node state, written
// and read as JSON. The steps are those that `up` plans there from the same policies.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doc/json.h"
#include "graph/node_state.h"
#include "plan/arbitrary.h"
#include "plan/simulate.h"

namespace railbed::plan {
namespace {

// An object as the API server stores and gives it.
api::SriovNetworkNodeState stored(const api::SriovNetworkNodeState& state) {
  doc::Value object = doc::Value::object();
  object.set("apiVersion", "sriovnetwork.openshift.io/v1");
  object.set("kind", api::kNodeStateKind);
  doc::Value& meta = object.set("metadata", doc::Value::object());
  meta.set("name", *state.meta.name);
  meta.set("namespace", *state.meta.ns);
  object.set("spec", api::node_state_spec(state.pfs));
  object.set("status", api::node_state_status(state));
  doc::Diagnostics found;
  const auto text =
      doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"api", doc::to_json(object)}), found);
  RC_ASSERT(text.has_value());
  const auto back = api::parse_node_state(*text, found);
  RC_ASSERT(back.has_value());
  return *back;
}

// By way of a node state.
NodePlan by_state(const api::Objects& objects, const facts::NodeFacts& facts) {
  api::SriovNetworkNodeState state;
  state.meta = graph::examples::meta(facts.node);
  state.nics = graph::found_nics(facts);
  doc::Diagnostics diagnostics;
  const facts::NodeFacts reported = graph::facts_of(stored(state), facts.labels);
  const graph::Resolution resolution(objects, {&reported, 1}, {}, graph::PodPlacement::kNotChecked, diagnostics);
  state.pfs = graph::state_of(resolution.graphs.front());
  const api::SriovNetworkNodeState seen = stored(state);
  const graph::WantedState wanted(seen, facts, {}, diagnostics);
  return make_plan(wanted.graph, {});
}

// What is done, without the words about why.
std::vector<Action> actions(const NodePlan& plan) {
  std::vector<Action> out;
  for (const PfPlan& pf : plan.pfs)
    for (const Step& step : pf.steps)
      if (!std::holds_alternative<NeedsReboot>(step.action)) out.push_back(step.action);
  return out;
}

RC_GTEST_PROP(NodeStateProperty, LeadsToThePlanOfUp, ()) {
  const api::Objects objects = arbitrary_objects();
  const facts::NodeFacts facts = arbitrary_node();
  const NodePlan direct = planned(objects, facts);
  const NodePlan by = by_state(objects, facts);
  RC_ASSERT(actions(by) == actions(direct));
  RC_ASSERT(by.resources == direct.resources);
  RC_CLASSIFY(!actions(direct).empty(), "has steps");
  RC_CLASSIFY(direct.resources.size() > 1, "several resources");
}

RC_GTEST_PROP(NodeStateProperty, CarriedOutOnceThereIsNothingToDo, ()) {
  const api::Objects objects = arbitrary_objects();
  const facts::NodeFacts before = arbitrary_node();
  const facts::NodeFacts after = simulate(by_state(objects, before), before);
  RC_ASSERT(actions(by_state(objects, after)).empty());
}

}  // namespace
}  // namespace railbed::plan
