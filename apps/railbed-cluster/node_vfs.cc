// SPDX-License-Identifier: Apache-2.0
#include "node_vfs.h"

#include <iterator>
#include <utility>

namespace railbed {

Result<std::unique_ptr<NodeVfs>> NodeVfs::start(const Dependencies& deps, agent::NodeStatesSettings settings) {
  auto plugin = TRY(kubelet::DevicePlugin::start({deps.disk, deps.kernel.files(), deps.pod_resources})
                        .context("serving devices to the kubelet"));
  return std::unique_ptr<NodeVfs>(new NodeVfs(deps, std::move(plugin), std::move(settings)));
}

NodeVfs::NodeVfs(const Dependencies& deps, std::unique_ptr<kubelet::DevicePlugin> plugin,
                 agent::NodeStatesSettings settings)
    : plugin_(std::move(plugin)),
      watch_(deps.kernel, [this] { states_.wake(); }),
      offers_(*plugin_, [this](const facts::NodeFacts& facts) { watch_.expect(agent::links_of_pfs(facts)); }),
      states_({deps.engine, offers_, deps.client}, std::move(settings)),
      listener_([this](std::stop_token stop) { watch_.run(std::move(stop)); }),
      thread_([this](std::stop_token stop) { states_.run(std::move(stop)); }) {}

Result<std::optional<plan::PoolVf>> NodeVfs::offered(const std::string& id) const {
  const bool has_looked = states_.counters().node.ended > 0;
  return offers_.find(id, has_looked ? agent::FirstLook::kEnded : agent::FirstLook::kPending);
}

void NodeVfs::stop() {
  for (std::jthread* one : {&listener_, &thread_}) one->request_stop();
  for (std::jthread* one : {&listener_, &thread_})
    if (one->joinable()) one->join();
}

std::vector<std::string> NodeVfs::reasons() const {
  std::vector<std::string> all = states_.reasons();
  std::vector<std::string> problems = plugin_->problems();
  std::move(problems.begin(), problems.end(), std::back_inserter(all));
  return all;
}

}  // namespace railbed
