// SPDX-License-Identifier: Apache-2.0
#include "node_vfs.h"

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
      states_({parts.engine, offers_, parts.client}, std::move(settings)),
      thread_([this](std::stop_token stop) { states_.run(std::move(stop)); }) {}

Result<void> NodeVfs::Offers::offer(kubelet::NodeDevices devices) {
  std::map<std::string, plan::PoolVf> vfs;
  for (const auto& [resource, all] : devices.resources)
    for (const plan::PoolVf& vf : all) {
      plan::PoolVf& known = vfs.insert_or_assign(vf.address.to_string(), vf).first->second;
      known.held_by.clear();
    }
  {
    const std::lock_guard lock(mutex_);
    vfs_ = std::move(vfs);
  }
  return plugin_.offer(std::move(devices));
}

std::optional<plan::PoolVf> NodeVfs::Offers::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = vfs_.find(id);
  return found != vfs_.end() ? std::optional(found->second) : std::nullopt;
}

Result<std::optional<plan::PoolVf>> NodeVfs::offered(const std::string& id) const {
  std::optional<plan::PoolVf> vf = offers_.find(id);
  if (!vf && states_.counters().node.ended == 0)
    return fail(Code::kBusy, "the agent has just started: whether {} is a VF of this node's policies is not known yet",
                id);
  return vf;
}

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
