// SPDX-License-Identifier: Apache-2.0
#include "agent_node_state.h"

#include <iterator>
#include <utility>

namespace railbed {

Result<std::unique_ptr<NodeVfs>> NodeVfs::start(const Parts& parts, agent::NodeStatesSettings settings) {
  auto plugin = TRY(kubelet::DevicePlugin::start({parts.disk, parts.kernel.files(), parts.pod_resources})
                        .context("serving devices to the kubelet"));
  return std::unique_ptr<NodeVfs>(new NodeVfs(parts, std::move(plugin), std::move(settings)));
}

NodeVfs::NodeVfs(const Parts& parts, std::unique_ptr<kubelet::DevicePlugin> plugin, agent::NodeStatesSettings settings)
    : plugin_(std::move(plugin)),
      states_({parts.engine, *plugin_, parts.client}, std::move(settings)),
      thread_([this](std::stop_token stop) { states_.run(std::move(stop)); }) {}

void NodeVfs::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::vector<std::string> NodeVfs::reasons() const {
  std::vector<std::string> all = states_.reasons();
  std::vector<std::string> problems = plugin_->problems();
  std::move(problems.begin(), problems.end(), std::back_inserter(all));
  return all;
}

}  // namespace railbed
