// SPDX-License-Identifier: Apache-2.0
// A node's VFs in a cluster: the loop over its node state and the device plugin that it feeds.
//
// Why: both are there only in a cluster, and the loop must have ended before what it uses goes. Threading: the main
// thread; the loop has one of its own, the plugin those of gRPC. Failure: start(), where the plugin's folder cannot be
// watched.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "agent/cluster/node_states.h"
#include "kubelet/grpc/device_plugin.h"

namespace railbed {

class NodeVfs {
 public:
  struct Parts {
    os::Kernel& kernel;
    os::Disk& disk;
    kubelet::PodResources& pod_resources;
    agent::Engine& engine;
    kube::Client& client;
  };
  // All parts outlive it.
  static Result<std::unique_ptr<NodeVfs>> start(const Parts& parts, agent::NodeStatesSettings settings);

  // A pod has gone: changes may have waited for it.
  void wake() { states_.wake(); }
  void stop();
  // Why the machine is not as the cluster wants it.
  std::vector<std::string> reasons() const;

 private:
  NodeVfs(const Parts& parts, std::unique_ptr<kubelet::DevicePlugin> plugin, agent::NodeStatesSettings settings);

  std::unique_ptr<kubelet::DevicePlugin> plugin_;
  agent::NodeStates states_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace railbed
