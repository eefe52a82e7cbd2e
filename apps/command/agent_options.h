// SPDX-License-Identifier: Apache-2.0
// The options of `railbed agent`.
//
// Why beside the command line: railbed declares them for its help, pages and completions and refuses wrong ones; the
// program that it becomes then declares them again and reads them. Threading: one thread. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "agent/door/server.h"
#include "agent/durable_records.h"
#include "agent/running_plugins.h"
#include "base/log.h"
#include "command/agent_client.h"
#include "command/cluster_options.h"
#include "command/command_line.h"
#include "command/programs.h"
#include "command/state_options.h"
#include "node/standalone.h"

namespace railbed {

struct AgentOptions {
  std::string socket = kAgentSocket;
  std::string metrics = "127.0.0.1:9470";
  std::string pending = "/var/lib/railbed/pending-del";
  std::string records = agent::kDurableRecords;
  std::string manifests = "/etc/railbed/manifests";
  std::string adopt;  // a directory of IPPool objects; empty: none
  StateOptions state;
  ClusterOptions cluster;
  bool alone = false;      // no other node gives addresses of whereabouts' ranges
  bool in_host = false;    // in a container: works on the host's files
  bool standby = false;    // waits for the agent that serves the socket to end, instead of giving up
  std::string cni_config;  // the runtime's folder of configurations, where railbed's is kept; empty: somebody else does
  node::Settings settings;
  std::string resource_prefix;                    // as it was given; empty: not
  size_t plugins = agent::RunningPlugins::kMost;  // at once, for pods
  std::vector<std::string> plugin_folders, unfenced;
  agent::ServerOptions server;
  std::string log_level = "info";

  // `line` points to the members: this object stays where it is until the line is parsed.
  void declare(CommandLine& line);
  // What is wrong with them beyond what the command line says; sets what follows from others.
  Result<void> settle();
  // Which serves them.
  const char* program() const { return cluster.given() ? kClusterProgram : kAloneProgram; }
  log::Level least_logged() const;
  agent::PluginPolicy plugin_policy() const;
};

}  // namespace railbed
