// SPDX-License-Identifier: Apache-2.0
#include "command/agent_options.h"

#include "command/log_level.h"

namespace railbed {

void AgentOptions::declare(CommandLine& line) {
  line.about("Serves the CNI requests of railbed-cni until it gets SIGTERM.");
  line.option("--socket", &socket, "where railbed-cni asks").show_default().file();
  line.option("--metrics", &metrics, "ADDRESS:PORT of the Prometheus endpoint, or off").show_default();
  line.option("--state-dir,--state", &state.directory, "where the state is").show_default().directory();
  line.option("--pending", &pending, "where railbed-cni keeps DELs while no agent runs").show_default().directory();
  line.option("--records", &records, "what DELs have to undo even after a reboot").show_default().directory();
  line.option("--manifests", &manifests, "a directory of manifests: networks, policies, pods")
      .show_default()
      .directory();
  line.option("--adopt", &adopt, "a directory with whereabouts' IPPool objects: their addresses are taken").directory();
  line.option("--alone", &alone, "no other node gives addresses of the whereabouts ranges of this one");
  cluster.declare(line);
  line.option("--node", &settings.node, "this machine's node name (its host name)");
  line.option("--in-host", &in_host, "in a pod with hostPID: works on the host's files, and executes plugins there");
  line.option("--standby", &standby, "waits for the agent that runs to end and takes its place, for upgrades");
  line.option("--cni-config", &cni_config,
              "the runtime's folder of configurations (/etc/cni/net.d): railbed's is kept there while it answers")
      .directory();
  line.option("--soft-rdma", &settings.soft_rdma, "soft-RoCE devices on RDMA-marked VFs without RDMA");
  line.option("--workers", &plugins,
              "how many plugins are executed for pods at once; twice as many requests are worked on")
      .show_default()
      .between(1, 256);
  line.option("--plugin-dir", &plugin_folders,
              "a directory that plugins are executed from, beside those that runtimes use; may be repeated")
      .directory();
  line.option("--unfenced", &unfenced,
              "a type of plugin that is executed with all rights of the agent (docs/agent.md); may be repeated");
  line.option("--log-level", &log_level, "the least that is logged; every ADD and DEL is at info")
      .show_default()
      .one_of(kLogLevels);
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
