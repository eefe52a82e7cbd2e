// SPDX-License-Identifier: Apache-2.0
// The agent's reconcile loop over its node's SriovNetworkNodeState: receives changes, has them applied, reports the
// status.
//
//   API server ─ watches ─► node state, Node, pods of the SR-IOV operator's daemon here ─► NodeOrder
//   NodeOrder, machine ─► NodeKeeper::pass() ─► VFs, DeviceOffers
//                                    └─► NodeStatusWriter, events ─► API server
//
// A pass runs when an order changed, and every 30 s for changes on the machine.
// Threading: run() in its own thread, which starts those of the watches, of the writer and of the events; the others
// from any thread.
// Failure: none; reasons() reports errors.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/cluster/node_keeper.h"
#include "agent/cluster/node_status_writer.h"
#include "kube/events.h"
#include "kube/informer.h"

namespace railbed::agent {

struct NodeStatesSettings {
  std::string ns;  // of node states: the operator's
  NodeKeeperSettings keeper;
};

struct NodeStatesCounters {
  NodeCounters node;
  NodeStatusWriter::Counters status;
  std::optional<std::chrono::milliseconds> silent;  // for how long the API server has not answered
};

class NodeStates : private NodeKeeper::Listener {
 public:
  // For its watches.
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kNodeStates, .verbs = kube::Verb::kList | kube::Verb::kWatch},
      {.kind = kube::kNodes,
       .verbs = kube::Verb::kList | kube::Verb::kWatch,
       .why = "its own: the label that lets railbed act"},
      {.kind = kube::kPods, .verbs = kube::Verb::kList | kube::Verb::kWatch}};

  struct Dependencies {
    Engine& engine;
    kubelet::DeviceOffers& offers;
    kube::Client& client;
  };

  // All dependencies outlive it.
  NodeStates(Dependencies deps, NodeStatesSettings settings);
  void run(std::stop_token stop);
  // Something changed that a pass may be waiting for: a pod has gone.
  void wake();

  std::vector<std::string> reasons() const;
  NodeStatesCounters counters() const;

 private:
  void status(const std::string& uid, doc::Value status) override;
  void drain_report(const std::string& uid, std::string text) override;
  void event(kube::EventType type, std::string reason, std::string note) override;
  kube::ObjectPtr state() const;
  NodeOrder order() const;
  void follow_log_level(const NodeOrder& order);
  std::optional<Error> silence() const;
  void work(std::stop_token stop);
  bool wait(std::chrono::milliseconds period, std::stop_token stop);

  const Dependencies deps_;
  const kube::ObjectKey key_;
  kube::Informer states_;
  kube::Informer nodes_;
  kube::Informer daemons_;
  NodeStatusWriter writer_;
  kube::EventRecorder events_;
  NodeKeeper keeper_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool awake_ = false;
  int log_level_ = 0;  // of work()
};

}  // namespace railbed::agent
