// SPDX-License-Identifier: Apache-2.0
// railbed status as a program: what it shows of what an agent reports.
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/door/server.h"
#include "os/real/unix_socket.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::Not;

// An agent that reports what the test says.
class StatusVerb : public testing::Test {
 protected:
  StatusVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-status-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~StatusVerb() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    std::filesystem::remove_all(folder_);
  }

  void reports(std::string report) {
    auto listener = os::UnixListener::open(folder_ / "agent.sock");
    ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
    agent::ServerOptions options;
    options.uid = getuid();
    options.report = [report = std::move(report)] { return report; };
    server_.emplace(std::move(*listener), [](const cni::Request&) { return agent::Reply{}; }, options);
    thread_ = std::jthread([this](std::stop_token stop) { (void)server_->run(std::move(stop)); });
  }
  std::string status() {
    const os::RunResult ran =
        run_verb({"status", "--socket", folder_ / "agent.sock", "--state-dir", folder_ / "state", "--node", "n"});
    EXPECT_EQ(ran.exit_status, 0) << ran.errors;
    return ran.output;
  }

  std::filesystem::path folder_;
  std::optional<agent::Server> server_;
  std::jthread thread_;
};

TEST_F(StatusVerb, WhatIsWrongWithVfsIsReportedAndTheAgentIsReady) {
  reports(R"({"version": "1", "pid": 7, "notReady": [], "events": [],
    "cluster": {"server": "https://10.0.0.1:6443", "node": "gpu-1", "caches": [], "statusesPending": 2},
    "vfs": ["0000:3b:00.0: 4 VFs wait for llm/a", "no VFs are changed while the API server is unreachable: \u001b[2J"]})");
  const std::string text = status();
  EXPECT_THAT(text, HasSubstr("agent 1, process 7: ready\n"));
  EXPECT_THAT(text, HasSubstr("API server https://10.0.0.1:6443, node gpu-1\n"));
  EXPECT_THAT(text, HasSubstr("  2 network-status not written yet\n"));
  EXPECT_THAT(text, HasSubstr("VFs: 0000:3b:00.0: 4 VFs wait for llm/a\n"));
  EXPECT_THAT(text, HasSubstr("VFs: no VFs are changed while the API server is unreachable: "));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("not ready")));
}

TEST_F(StatusVerb, PluginsThatKeepAllRightsAreReported) {
  reports(R"({"version": "1", "pid": 7, "notReady": [], "unfenced": ["cilium-cni", "x"], "events": []})");
  EXPECT_THAT(status(), HasSubstr("plugins that run with all rights of the agent (--unfenced): cilium-cni, x\n"));
}

TEST_F(StatusVerb, WhatKeepsItFromBeingReadyIsAnotherThing) {
  reports(R"({"version": "1", "pid": 7, "notReady": ["pods is forbidden"], "events": [],
    "cluster": {"server": "https://10.0.0.1:6443", "node": "gpu-1", "caches": [], "statusesPending": 0}, "vfs": []})");
  const std::string text = status();
  EXPECT_THAT(text, HasSubstr("agent 1, process 7: not ready\n\nnot ready: pods is forbidden\n"));
  EXPECT_THAT(text, Not(HasSubstr("VFs:")));
}

TEST_F(StatusVerb, LeasedAddressesAreReported) {
  reports(
      R"({"version": "1", "pid": 7, "notReady": [], "events": [], "addresses": {"cells": 2, "addresses": 32, "waiting": 1,
    "heardSeconds": 7, "error": "connection refused", "lacking": ["no node has an address left"], "conflicts": ["10.0.0.1 \u001b[2J"]}})");
  const std::string text = status();
  EXPECT_THAT(text,
              HasSubstr("addresses: 32 leased in 2 cells, 1 ADDs waiting; last update from the API server 7 s ago\n"
                        "  the API server is unreachable: connection refused\n"
                        "  no node has an address left\n"
                        "  10.0.0.1 "));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(StatusVerb, WithoutAnAgentItSaysSo) {
  EXPECT_THAT(status(), HasSubstr("events are not available, no agent answers: "));
}

}  // namespace
}  // namespace railbed
