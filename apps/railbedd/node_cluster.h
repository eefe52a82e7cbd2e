// SPDX-License-Identifier: Apache-2.0
// A node's part in a cluster, as the agent sees it: where pods and their devices come from, and what is reported.
//
// Why an interface: the agent is in two programs. railbedd serves a machine of its own and has none of this;
// railbed-cluster has (node_in_cluster.h) with its HTTP and gRPC libraries, which would be half of railbedd's memory.
// Threading: everything but the life cycle is for any thread; restore(), start() and stop() are the main thread's,
// hurry() is for any. Failure: later errors end nothing; not_ready(), report() and the agent's Events have them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/addresses/address_supply.h"
#include "agent/context/metrics.h"
#include "agent/door/events.h"
#include "agent/engine.h"
#include "agent/pod/sources.h"
#include "cni/error.h"
#include "command/agent_options.h"
#include "doc/value.h"
#include "os/ports/disk.h"

namespace railbed {

class NodeCluster {
 public:
  // What it works with; all outlive it.
  struct Dependencies {
    os::Kernel& kernel;
    os::Disk& disk;
    state::Store& store;
    agent::Events& events;
    std::string node;  // this machine's name in the cluster
  };
  virtual ~NodeCluster() = default;

  virtual agent::PodSource& pods() = 0;
  virtual agent::DeviceSource& devices() = 0;
  // Which addresses of shared ranges this node gives, and who gets it more; null: it gives all of them, as it is alone.
  virtual ipam::BlockSource* blocks() = 0;
  virtual agent::AddressSupply* supply() = 0;

  // Reads what an earlier agent knew; before start().
  virtual void restore() = 0;
  // Returns once pods and networks are known, or after a moment. `engine` outlives this.
  virtual Result<void> start(agent::Engine& engine) = 0;
  // Ends all waits for the API server, and no later call waits.
  virtual void hurry() = 0;
  virtual void stop() = 0;

  // A request that failed: an Event at the pod, where its owner can do something about it.
  virtual void failed(const cni::Request& request, const Error& error) = 0;
  // An ADD has ended: devices that were reserved for its pod are there.
  virtual void pod_came() = 0;
  // A pod has given back its interfaces: changes of VFs may have waited for it.
  virtual void pod_gone() = 0;

  virtual std::vector<std::string> not_ready() const = 0;
  virtual std::vector<agent::Sample> samples() const = 0;
  // Adds its members to what `railbed status` asks for.
  virtual void report(doc::Value& agent) const = 0;
};

// Where the options name a cluster. Fails with a kubeconfig or service account that cannot be read, or is refused; an
// API server that is away is no failure.
using JoinCluster = Result<std::unique_ptr<NodeCluster>> (*)(const AgentOptions& options,
                                                             NodeCluster::Dependencies deps);

}  // namespace railbed
