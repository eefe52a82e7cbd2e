// SPDX-License-Identifier: Apache-2.0
// A verb of the command line: `railbed discover`, `railbed plan`, …
//
// Why: one file per verb, one row in main.cc's table. A verb declares its options on the command line that it
// is given, wires the real ports of `os` to pure functions, prints, and returns the exit status. Nothing
// outside apps/ parses arguments or prints. A verb that serves until it is stopped is in another program
// (serving_program.h).
#pragma once

#include <span>
#include <string_view>

#include "command/command_line.h"
#include "command/exit_status.h"

namespace railbed {

struct Verb {
  std::string_view name;
  std::string_view summary;  // its line in `railbed --help`
  int (*run)(CommandLine& line);
};

// All verbs, in the order of the help.
std::span<const Verb> all_verbs();

// There is none of this name; perhaps another one was meant.
Error no_verb(std::string_view name);

int discover_verb(CommandLine& line);
int check_verb(CommandLine& line);
int explain_verb(CommandLine& line);
int generate_verb(CommandLine& line);
int size_verb(CommandLine& line);
int plan_verb(CommandLine& line);
int up_verb(CommandLine& line);
int down_verb(CommandLine& line);
int status_verb(CommandLine& line);
int attachments_verb(CommandLine& line);
int gc_verb(CommandLine& line);
int exec_verb(CommandLine& line);
int cni_verb(CommandLine& line);
int perf_verb(CommandLine& line);
int completion_verb(CommandLine& line);
int man_verb(CommandLine& line);

}  // namespace railbed
