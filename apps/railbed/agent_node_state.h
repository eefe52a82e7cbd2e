// SPDX-License-Identifier: Apache-2.0
// The agent's loop over its node's SriovNetworkNodeState, with its thread.
//
// Why apart from agent.cc: only an agent in a cluster has it. Threading: the main thread; reasons() and report() from
// any. Failure: none ends the agent; reasons() has it.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "agent/cluster/node_states.h"
#include "kube/connection.h"

namespace railbed {

struct NodeStateOptions {
  std::string node;                                     // of the Node object
  std::string ns = "openshift-sriov-network-operator";  // of node states
  graph::Options graph;                                 // resource_prefix, soft_rdma
};

class NodeStateSide {
 public:
  // All outlive it.
  NodeStateSide(kube::Connection& api, agent::Engine& engine, kubelet::DeviceOffers& offers,
                const NodeStateOptions& options);
  ~NodeStateSide() { stop(); }
  NodeStateSide(const NodeStateSide&) = delete;
  NodeStateSide& operator=(const NodeStateSide&) = delete;

  // Once what an earlier agent began is finished.
  void start();
  // A step that is being done is waited for; Engine::stop() before ends the waits in it.
  void stop();
  // Something that it may be waiting for has happened: a pod has gone.
  void wake() { states_.wake(); }

  // Why VFs are not as the node state wants them.
  std::vector<std::string> reasons() const { return states_.reasons(); }
  agent::NodeStatesCounters counters() const { return states_.counters(); }
  // For `railbed status`.
  doc::Value report() const;

 private:
  agent::NodeStates states_;
  std::jthread thread_;
};

}  // namespace railbed
