// SPDX-License-Identifier: Apache-2.0
// What `up` and `down` share: options, the capabilities they ask for, and how they end. Threading: the main
// thread. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "agent_client.h"
#include "command_line.h"
#include "node/standalone.h"
#include "os/ports/kernel.h"
#include "state_options.h"

namespace railbed {

struct RunOptions {
  node::Settings settings;
  StateOptions state;
  std::string output = "text";
  std::string agent_socket = kAgentSocket;
};

void add_run_options(CommandLine& line, RunOptions& options);

// The state, locked, and the agent that attaches pods where one runs (it is in `settings` then).
struct Work {
  std::unique_ptr<state::Store> store;
  std::unique_ptr<AgentClient> agent;  // null: this process attaches them
};
Result<Work> begin_work(RunOptions& options, os::Kernel& kernel, const std::string& command);

// Those of the capabilities that changing a machine needs which this process lacks.
std::vector<std::string> missing_capabilities(os::Kernel& kernel);

// Prints failures to standard error and the result to standard output; the exit status.
int tell(const RunOptions& options, const node::UpReport& report);
int tell(const RunOptions& options, const node::DownReport& report);

}  // namespace railbed
