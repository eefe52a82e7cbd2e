// SPDX-License-Identifier: Apache-2.0
// One plugin of ours with an IPAM type that is not ours, as a runtime calls it.
#include "serve/foreign_ipam.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doc/json.h"
#include "os/fake_disk.h"
#include "os/fake_kernel.h"
#include "os/fake_packets.h"
#include "serve/dhcp.h"
#include "serve/kubelet_checkpoint.h"
#include "serve/manifest_source.h"
#include "serve/meta.h"
#include "serve/metrics.h"

namespace railbed::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAnswer =
    R"({"cniVersion":"1.0.0","ips":[{"address":"10.7.0.5/24","gateway":"10.7.0.1"}]})";

class ForeignIpamTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kernel.netns().create("a"));
    install("/opt/cni/bin/nv-ipam", kAnswer);
  }

  // A program that answers ADD with `answer`; `failing` fails, whichever command it is.
  void install(const std::string& path, const std::string& answer, const std::string& failing = "") {
    kernel.put_program(path, [this, answer, failing](const os::RunRequest& request) -> Result<os::RunResult> {
      std::string command;
      for (const std::string& pair : request.environment)
        if (pair.starts_with("CNI_COMMAND=")) command = pair.substr(12);
      runs.push_back(command);
      inputs.push_back(request.input);
      if (command == failing)
        return os::RunResult{.exit_status = 1, .output = R"({"code":11,"msg":"no pool"})"};
      return os::RunResult{.output = command == "ADD" ? answer : ""};
    });
  }

  cni::Outcome<std::string> ask(cni::Command command, const std::string& master = "eth1",
                                const std::string& members = "") {
    cni::Request request{.command = command,
                         .type = "macvlan",
                         .container_id = "c1",
                         .netns = "/run/netns/a",
                         .ifname = "net1",
                         .args_text = "",
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.1.0","name":"n","type":"macvlan","master":")" +
                                   master + R"(","ipam":{"type":"nv-ipam","poolName":"p"})" + members + "}"};
    auto config = cni::read_plugin_config(request.config);
    if (!config.has_value()) return std::unexpected(config.error());
    return plugin_request(parts, request, *config);
  }

  std::vector<std::string> records() {
    std::vector<std::string> names;
    auto all = store->attachments();
    for (const state::Attachment& one : *all) names.push_back(one.interface);
    return names;
  }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> store = state::memory_store();
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  Engine engine{kernel, *store, *blocks};
  os::FakeDisk disk;
  os::FakePackets packets{kernel.clock()};
  Dhcp dhcp{engine, packets};
  HostLocal host_local{disk};
  Metrics metrics;
  ManifestSource pods{kernel, "/etc/railbed", {}};
  Meta meta{disk, pods, {}};
  Parts parts{engine, meta, dhcp, host_local, metrics};
  std::vector<std::string> runs;
  std::vector<std::string> inputs;
};

TEST_F(ForeignIpamTest, KnowsWhichTypesAreNotOurs) {
  auto type_in = [](const std::string& text) {
    doc::Diagnostics unread;
    auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"config", text}), unread);
    return foreign_ipam(*value);
  };
  EXPECT_EQ(type_in(R"({"ipam":{"type":"nv-ipam"}})"), "nv-ipam");
  for (const char* ours :
       {R"({"ipam":{"type":"host-local"}})", R"({"ipam":{"type":"dhcp"}})", R"({"ipam":{}})", R"({})"})
    EXPECT_EQ(type_in(ours), std::nullopt) << ours;
}

TEST_F(ForeignIpamTest, AnswersItsAddressesAndGivesThemBackLast) {
  auto answer = ask(cni::Command::kAdd);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_THAT(*answer, HasSubstr("10.7.0.5/24"));
  EXPECT_THAT(inputs.front(), HasSubstr(R"("poolName":"p")"));
  EXPECT_THAT(records(), ElementsAre("exec:net1#ipam", "net1"));
  auto again = ask(cni::Command::kAdd);  // keeps what it has
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, *answer);
  EXPECT_TRUE(ask(cni::Command::kCheck).has_value());
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_THAT(runs, ElementsAre("ADD", "CHECK", "DEL"));
  EXPECT_THAT(inputs.back(), HasSubstr("10.7.0.5/24"));  // prevResult
  EXPECT_TRUE(records().empty());
}

TEST_F(ForeignIpamTest, GivesAddressesBackThatNoInterfaceCameToHave) {
  std::string before = kernel.snapshot();
  auto answer = ask(cni::Command::kAdd, "nowhere");
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("nowhere"));
  EXPECT_THAT(runs, ElementsAre("ADD", "DEL"));
  EXPECT_TRUE(records().empty());
  EXPECT_EQ(kernel.snapshot(), before);
}

TEST_F(ForeignIpamTest, TellsThePluginsOwnFailureAndMakesNothing) {
  install("/opt/cni/bin/nv-ipam", "", "ADD");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, 11);
  EXPECT_EQ(answer.error().message, "plugin nv-ipam: no pool");
  EXPECT_THAT(runs, ElementsAre("ADD", "DEL"));
  EXPECT_TRUE(records().empty());
}

TEST_F(ForeignIpamTest, RefusesAnAnswerWithoutAddresses) {
  install("/opt/cni/bin/nv-ipam", R"({"cniVersion":"1.0.0","ips":[]})");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("no address"));
  EXPECT_THAT(runs, ElementsAre("ADD", "DEL"));
}

TEST_F(ForeignIpamTest, TriesADelAgainThatFailed) {
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  install("/opt/cni/bin/nv-ipam", kAnswer, "DEL");
  auto failed = ask(cni::Command::kDel);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "plugin nv-ipam: no pool");
  EXPECT_THAT(records(), ElementsAre("exec:net1#ipam"));  // the interface is gone
  install("/opt/cni/bin/nv-ipam", kAnswer);
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_TRUE(records().empty());
}

TEST_F(ForeignIpamTest, PassesOnTheDelOfAPodFromBeforeAndGc) {
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  ASSERT_TRUE(ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[])").has_value());
  EXPECT_THAT(runs, ElementsAre("DEL", "GC"));
}

// kill -9 at every call of the ADD: the next agent's recovery and the DEL leave nothing.
TEST_F(ForeignIpamTest, SurvivesAKillAtEveryCall) {
  std::string before = kernel.snapshot();
  for (int calls = 0;; ++calls) {
    ASSERT_LT(calls, 200);
    kernel.kill_after(calls, os::FakeKernel::Kill::kUnanswered);
    auto answer = ask(cni::Command::kAdd);
    bool killed = kernel.killed();
    kernel.restart();
    if (!killed) {
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      return;
    }
    ASSERT_TRUE(meta.recover(engine));
    auto gone = ask(cni::Command::kDel);
    ASSERT_TRUE(gone.has_value()) << gone.error().message;
    EXPECT_TRUE(records().empty());
    EXPECT_EQ(kernel.snapshot(), before);
  }
}

}  // namespace
}  // namespace railbed::serve
