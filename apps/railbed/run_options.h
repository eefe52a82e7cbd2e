// SPDX-License-Identifier: Apache-2.0
// What `up` and `down` share: options, the capabilities they ask for, and how they end. Threading: the main
// thread. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "agent/standalone.h"
#include "os/kernel.h"
#include "state_options.h"

namespace CLI {
class App;
}

namespace railbed {

struct RunOptions {
  agent::Settings settings;
  StateOptions state;
  std::string output = "text";
};

void add_run_options(CLI::App& app, RunOptions& options);

// Those of the capabilities that changing a machine needs which this process lacks.
std::vector<std::string> missing_capabilities(os::Kernel& kernel);

// Prints failures to standard error and the result to standard output; the exit status.
int tell(const RunOptions& options, const agent::UpReport& report);
int tell(const RunOptions& options, const agent::DownReport& report);

}  // namespace railbed
