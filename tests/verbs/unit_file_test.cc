// SPDX-License-Identifier: Apache-2.0
// The agent's systemd unit, as systemd itself judges it.
#include <gtest/gtest.h>

#include "os/ports/processes.h"

namespace railbed {
namespace {

// Of 10; needs of executed plugins prevent a lower one (the unit names each).
constexpr const char* kMostExposed = "--threshold=40";

TEST(Unit, LeavesTheAgentNoMoreThanItNeeds) {
  auto ran = os::real_processes()->run({.program = "/usr/bin/systemd-analyze",
                                        .arguments = {"security", "--offline=yes", "--no-pager", kMostExposed,
                                                      SOURCE_DIR "/deploy/systemd/railbed-agent.service"},
                                        .environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"},
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
  if (!ran.has_value() && ran.error().code == Code::kNotFound) GTEST_SKIP() << "systemd-analyze is not installed";
  ASSERT_TRUE(ran.has_value()) << ran.error().to_string();
  EXPECT_EQ(ran->exit_status, 0) << ran->output << ran->errors;
  EXPECT_NE(ran->output.find("Overall exposure level"), std::string::npos) << ran->output << ran->errors;
}

}  // namespace
}  // namespace railbed
