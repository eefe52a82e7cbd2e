// SPDX-License-Identifier: Apache-2.0
// Third-party plugins: found and executed as the CNI specification requires.
//
// Threading: any thread; never inside a Turn, since a plugin may take arbitrarily long and may request addresses from
// the agent in the meantime.
// Failure: the plugin's own code and message, prefixed with its name; code 7 if there is no such program, 11 if it did
// not end in time or too many run (running_plugins.h), 6 for an answer that cannot be parsed.
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
Result<std::string> find_plugin(const RunningPlugins& plugins, const std::string& type,
                                const std::vector<std::string>& path);

// Runs ADD, given the right to it, and returns its result, which has `version` unless it names its own.
Result<cni::AddResult> execute_add(const RunningPlugins::Slot& slot, const Execution& execution,
                                   const std::string& version);
// DEL, CHECK, GC, STATUS.
Result<void> execute(RunningPlugins& plugins, const Execution& execution);

}  // namespace railbed::agent
