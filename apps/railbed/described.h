// SPDX-License-Identifier: Apache-2.0
// Verbs as they describe themselves, for man pages and completions.
//
// Threading: the main thread. Failure: none.
#pragma once

#include <string_view>
#include <vector>

#include "command/command_line.h"

namespace railbed {

struct Described {
  std::string_view name;
  std::string_view summary;
  CommandLine line;
};

// Runs each verb only to collect its declarations.
std::vector<Described> describe_verbs();

// The placeholder for the value of an option: "FILE", "N", "text|json".
std::string value_placeholder(const Declaration& option);

}  // namespace railbed
