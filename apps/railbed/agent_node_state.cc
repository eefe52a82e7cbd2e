// SPDX-License-Identifier: Apache-2.0
#include "agent_node_state.h"

#include "doc/members.h"

namespace railbed {
namespace {

agent::NodeStatesSettings settings_of(const agent::Engine& engine, const NodeStateOptions& options) {
  agent::NodeStatesSettings out{.ns = options.ns, .keeper = {.node = options.node, .options = options.graph}};
  out.keeper.apply.stop = engine.stopping();
  return out;
}

}  // namespace

NodeStateSide::NodeStateSide(kube::Connection& api, agent::Engine& engine, kubelet::DeviceOffers& offers,
                             const NodeStateOptions& options)
    : states_({engine, offers, api.client()}, settings_of(engine, options)) {}

void NodeStateSide::start() {
  thread_ = std::jthread([this](std::stop_token stop) { states_.run(stop); });
}

void NodeStateSide::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

doc::Value NodeStateSide::report() const {
  const agent::NodeStatesCounters now = counters();
  doc::Value out = doc::Value::object();
  out.set("aside", now.node.aside);
  out.set("heldBack", static_cast<int64_t>(now.node.held_back));
  out.set("reasons", doc::texts(reasons()));
  out.set("stepFailures", static_cast<int64_t>(now.node.failures));
  out.set("steps", static_cast<int64_t>(now.node.steps));
  return out;
}

}  // namespace railbed
