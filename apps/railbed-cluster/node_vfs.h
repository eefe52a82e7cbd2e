// SPDX-License-Identifier: Apache-2.0
// A node's VFs in a cluster: the loop over its node state and the device plugin that it feeds.
//
// Why: both are there only in a cluster, and the loop must have ended before what it uses goes. What the kernel
// announces of VFs wakes the loop. Threading: the main thread; the loop and the watch have threads of their own, the
// plugin those of gRPC. Failure: start(), where the plugin's folder cannot be watched.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "agent/cluster/machine_watch.h"
#include "agent/cluster/node_samples.h"
#include "agent/cluster/node_states.h"
#include "agent/cluster/offered_vfs.h"
#include "kubelet/grpc/device_plugin.h"

namespace railbed {

class NodeVfs {
 public:
  struct Dependencies {
    os::Kernel& kernel;
    os::Disk& disk;
    kubelet::PodResources& pod_resources;
    agent::Engine& engine;
    kube::Client& client;
  };
  // All dependencies outlive it.
  static Result<std::unique_ptr<NodeVfs>> start(const Dependencies& deps, agent::NodeStatesSettings settings);

  // A pod has its interfaces.
  void pod_came() { plugin_->devices_made(); }
  // A pod has gone: changes may have waited for it.
  void wake() { states_.wake(); }
  void stop();
  // For the metrics page.
  std::vector<agent::Sample> samples() const { return agent::node_samples(states_.counters()); }
  // A VF that is on offer, by its address; for the ADD of the pod that it was given to. Busy before the first look at
  // the node: without its policy a VF would come without the RDMA device that the pod is to have.
  Result<std::optional<plan::PoolVf>> offered(const std::string& id) const;
  std::map<std::string, uint64_t> counts() const { return offers_.counts(); }
  // Why the machine is not as the cluster wants it.
  std::vector<std::string> reasons() const;

 private:
  NodeVfs(const Dependencies& deps, std::unique_ptr<kubelet::DevicePlugin> plugin, agent::NodeStatesSettings settings);

  std::unique_ptr<kubelet::DevicePlugin> plugin_;
  agent::MachineWatch watch_;
  agent::OfferedVfs offers_;
  agent::NodeStates states_;
  std::jthread listener_;  // the last two use the others
  std::jthread thread_;
};

}  // namespace railbed
