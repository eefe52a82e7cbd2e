// SPDX-License-Identifier: Apache-2.0
// Verbs that serve until they are stopped, or that use an API server: this process becomes the program that contains
// them, by the verb's options (command/programs.h).
//
// Why other programs: they are linked with libraries that every start of a short verb would load otherwise. Why by
// exec and not as a child: the process that a service manager started remains the one that reports that it is ready,
// and gets its signals. The options are declared in apps/command for all programs, so that help, manual pages,
// completions and errors about options are railbed's as for all verbs. Threading: the main thread, before there are
// others. Failure: NotFound where the program is missing.
#pragma once

#include "command/command_line.h"
#include "command/exit_status.h"

namespace railbed {

// Returns only on failure. `arguments` begin with the verb's name.
Error become(const std::string& program, std::span<char* const> arguments);

// A row's function in main.cc, by the type of the verb's options.
template <typename Options>
int serving_verb(CommandLine& line) {
  Options options;
  options.declare(line);
  if (auto status = line.parse()) return *status;
  return give_up(become(options.program(), line.arguments()));
}

}  // namespace railbed
