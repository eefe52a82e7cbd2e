// SPDX-License-Identifier: Apache-2.0
// The built programs have the flags of cmake/hardening.cmake: tests/tools/hardening over them and their compile
// commands. It reads the .deb in tests/fresh and the images in tests/cluster/deploy.
#include <chrono>

#include <gtest/gtest.h>

#include "os/ports/processes.h"

namespace railbed {
namespace {

std::string checked(std::vector<std::string> arguments) {
  auto ran = os::real_processes()->run({.program = SOURCE_DIR "/tests/tools/hardening",
                                        .arguments = std::move(arguments),
                                        .environment = {},
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60)});
  return ran ? ran->output : ran.error().to_string();
}

TEST(Hardening, HeadersOfThePrograms) {
  EXPECT_EQ(checked({RAILBED_PROGRAM, RAILBEDD_PROGRAM, CLUSTER_PROGRAM, SHIM_PROGRAM}),
            "PASS hardening: railbed\nPASS hardening: railbedd\nPASS hardening: railbed-cluster\n"
            "PASS hardening: railbed-cni\n");
}

TEST(Hardening, FlagsThatLeaveNoMarkInAHeader) {
  EXPECT_EQ(checked({"--commands", BUILD_DIR "/compile_commands.json"}), "PASS hardening: compile commands\n");
}

}  // namespace
}  // namespace railbed
