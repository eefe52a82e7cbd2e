// SPDX-License-Identifier: Apache-2.0
#include "command/agent_options.h"

#include <filesystem>
#include <system_error>

#include "command/log_level.h"
#include "node/resource_prefix.h"

namespace railbed {

void AgentOptions::declare(CommandLine& line) {
  line.about("Serves the CNI requests of railbed-cni until SIGTERM.");
  line.option("--socket", &socket, "socket for railbed-cni").show_default().file();
  line.option("--metrics", &metrics, "ADDRESS:PORT of the Prometheus endpoint, or off").show_default();
  line.option("--state-dir,--state", &state.directory, "state directory").show_default().directory();
  line.option("--pending", &pending, "where railbed-cni queues DELs while no agent runs").show_default().directory();
  line.option("--records", &records, "records of what DELs must undo even after a reboot").show_default().directory();
  line.option("--manifests", &manifests, "a directory of manifests: networks, policies, pods")
      .show_default()
      .directory();
  line.option("--adopt", &adopt, "a directory with whereabouts' IPPool objects, whose addresses are reserved")
      .directory();
  line.option("--alone", &alone, "no other node allocates addresses of this node's whereabouts ranges");
  cluster.declare(line);
  line.option("--node", &settings.node, "this machine's node name (its host name)");
  line.option("--in-host", &in_host, "in a pod with hostPID: operate on the host's files and execute plugins there");
  line.option("--standby", &standby, "wait until the running agent exits, then replace it (for upgrades)");
  line.option("--cni-config", &cni_config,
              "the runtime's configuration directory (/etc/cni/net.d); the agent's file is there while it answers")
      .directory();
  line.option("--resource-prefix", &resource_prefix,
              "prefix of resource names, where no operator says one to this node (openshift.io)");
  line.option("--soft-rdma", &settings.soft_rdma, "soft-RoCE devices on RDMA-marked VFs without RDMA");
  line.option("--workers", &plugins, "limit of plugins executed at the same time; twice as many requests are processed")
      .show_default()
      .between(1, 256);
  line.option("--plugin-dir", &plugin_folders,
              "an additional directory of plugins, next to those that runtimes use; may be repeated")
      .directory();
  line.option("--unfenced", &unfenced,
              "type of a plugin to execute with all rights of the agent (docs/agent.md); may be repeated");
  line.option("--log-level", &log_level, "log level; ADDs and DELs are logged at info")
      .show_default()
      .one_of(kLogLevels);
}

namespace {

// Files are compared and made by their full names: "state" is below the folder in which the program was started.
void make_absolute(std::string& path) {
  std::error_code failed;
  const std::filesystem::path full = std::filesystem::absolute(path, failed);
  if (!path.empty() && !failed) path = full.lexically_normal().string();
}

}  // namespace

Result<void> AgentOptions::settle() {
  for (std::string* path : {&state.directory, &pending, &records, &manifests}) make_absolute(*path);
  TRY(node::check_prefix(resource_prefix));
  if (!resource_prefix.empty()) settings.resource_prefix = resource_prefix;
  return {};
}

agent::PluginPolicy AgentOptions::plugin_policy() const {
  agent::PluginPolicy policy;
  for (const std::string& folder : plugin_folders) policy.folders.push_back(agent::without_slash(folder));
  policy.unfenced.insert(unfenced.begin(), unfenced.end());
  return policy;
}

log::Level AgentOptions::least_logged() const {
  return level_named(log_level);
}

}  // namespace railbed
