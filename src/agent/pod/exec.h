// SPDX-License-Identifier: Apache-2.0
// Plugins that are not ours: found and executed as the CNI specification says.
//
// Threading: any thread; never in a turn, since a plugin may take as long as it likes and may ask the agent
// for addresses meanwhile. Failure: the plugin's own code and message with its name before them; code 7 where
// there is no such program, 11 where it did not end in time or too many run (running_plugins.h), 6 for an answer that
// cannot be read.
#pragma once

#include <string>
#include <vector>

#include "agent/running_plugins.h"
#include "cni/add_result.h"
#include "cni/request.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

// One call of a plugin. `config` is its standard input.
struct Execution {
  cni::Command command = cni::Command::kAdd;
  std::string type;
  std::string container_id;
  std::string netns;
  std::string ifname;
  std::string args;
  std::vector<std::string> path;  // the directories of programs
  std::string config;
};

// The first program of that name in those folders of `path` that PluginPolicy allows.
cni::Outcome<std::string> find_plugin(const RunningPlugins& plugins, const std::string& type,
                                      const std::vector<std::string>& path);

// Runs ADD, given the right to it, and returns its result, which has `version` unless it names its own.
cni::Outcome<cni::AddResult> execute_add(const RunningPlugins::Slot& slot, const Execution& execution,
                                         const std::string& version);
// DEL, CHECK, GC, STATUS.
cni::Outcome<void> execute(RunningPlugins& plugins, const Execution& execution);

}  // namespace railbed::agent
