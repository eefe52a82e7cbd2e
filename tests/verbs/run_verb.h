// SPDX-License-Identifier: Apache-2.0
// The built program with a verb, as a person starts it. Only included by tests.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "os/ports/processes.h"

namespace railbed {

inline os::RunResult run_verb(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment = {}) {
  auto ran = os::real_processes()->run({.program = RAILBED_PROGRAM,
                                        .arguments = arguments,
                                        .environment = environment,
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
  EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
  return ran ? *ran : os::RunResult{};
}

}  // namespace railbed
