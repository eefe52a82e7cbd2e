// SPDX-License-Identifier: Apache-2.0
// A verb of the command line: `railbed discover`, `railbed plan`, …
//
// Why: one file per verb, one row in main.cc's table. A verb parses its own options with CLI11, wires the
// real ports of `os` to pure functions, prints, and returns the exit status. Nothing outside apps/ parses
// arguments or prints.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace railbed {

// The exit statuses that all verbs share; 2 is for "there is something to change" (`plan`) or to mend
// (`check`).
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitChange = 2;

struct Verb {
  std::string_view name;
  std::string_view summary;                // one line of `railbed --help`
  int (*run)(std::span<char*> arguments);  // arguments[0] is the verb's name
};

int discover_verb(std::span<char*> arguments);
int check_verb(std::span<char*> arguments);
int explain_verb(std::span<char*> arguments);
int generate_verb(std::span<char*> arguments);
int size_verb(std::span<char*> arguments);
int plan_verb(std::span<char*> arguments);
int up_verb(std::span<char*> arguments);
int down_verb(std::span<char*> arguments);
int status_verb(std::span<char*> arguments);
int attachments_verb(std::span<char*> arguments);
int gc_verb(std::span<char*> arguments);
int exec_verb(std::span<char*> arguments);
int agent_verb(std::span<char*> arguments);
int cni_verb(std::span<char*> arguments);
int perf_verb(std::span<char*> arguments);

}  // namespace railbed
