// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <CLI/CLI.hpp>

#include "verb.h"

namespace railbed {

std::optional<int> parse_command_line(CLI::App& app, std::span<char*> arguments) {
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kExitOk : kExitError;
  }
  return std::nullopt;
}

int give_up(const Error& error) {
  fmt::print(stderr, "railbed: {}\n", error.to_string());
  return kExitError;
}

int status_of(const Result<int>& result) {
  return result ? *result : give_up(result.error());
}

}  // namespace railbed
