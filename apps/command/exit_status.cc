// SPDX-License-Identifier: Apache-2.0
#include "command/exit_status.h"

#include <cstdio>

#include <fmt/core.h>

namespace railbed {

int give_up(const Error& error) {
  fmt::print(stderr, "railbed: {}\n", error.to_string());
  return kExitError;
}

int status_of(const Result<int>& result) {
  return result ? *result : give_up(result.error());
}

}  // namespace railbed
