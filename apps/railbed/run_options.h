// SPDX-License-Identifier: Apache-2.0
// What `up` and `down` share: options, and how they end. Threading: the main thread. Failure: none.
#pragma once

#include <string>

#include "command/agent_client.h"
#include "command/command_line.h"
#include "command/state_options.h"
#include "node/standalone.h"
#include "os/ports/kernel.h"

namespace railbed {

struct RunOptions {
  node::Settings settings;
  StateOptions state;
  std::string output = "text";
  bool quiet = false;
  std::string agent_socket = kAgentSocket;
};

void add_run_options(CommandLine& line, RunOptions& options);

// The locked state, and the agent that attaches pods if one runs (then it is also in `settings`).
struct Work {
  std::unique_ptr<state::Store> store;
  std::unique_ptr<AgentClient> agent;  // null: this process attaches pods itself
};
Result<Work> begin_work(RunOptions& options, os::Kernel& kernel, const std::string& command);

// Prints failures to standard error and the result to standard output; returns the exit status.
int print_run_report(const RunOptions& options, const node::UpReport& report);
int print_run_report(const RunOptions& options, const node::DownReport& report);

}  // namespace railbed
