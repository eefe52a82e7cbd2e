// SPDX-License-Identifier: Apache-2.0
// main() of a program whose verbs serve until they are stopped:
//
//   PROGRAM --for VERSION VERB …   as railbed of that version starts it, which has read the options before
//   PROGRAM --version
//
// Threading: the main thread, before there are others. Failure: an exit status, with the reason on standard error.
#pragma once

#include <span>
#include <string_view>

#include "command/command_line.h"
#include "command/exit_status.h"

namespace railbed {

struct ServedVerb {
  std::string_view name;
  int (*run)(CommandLine& line);
};

int serve(std::string_view program, std::span<const ServedVerb> verbs, std::span<char* const> arguments);

}  // namespace railbed
