// SPDX-License-Identifier: Apache-2.0
// One of railbed's plugins with an IPAM type that railbed does not implement, as a runtime calls it.
#include "agent/addresses/foreign_ipam.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "doc/json.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kIpamAnswer = R"({"cniVersion":"1.0.0","ips":[{"address":"10.7.0.5/24","gateway":"10.7.0.1"}]})";

class ForeignIpamTest : public RequestTest {
 protected:
  void SetUp() override {
    RequestTest::SetUp();
    install("nv-ipam", kIpamAnswer);
  }
  void install_failing(const std::string& command, int code = 11) {
    install(
        "nv-ipam",
        {.output = kIpamAnswer, .failing = command, .failure = fmt::format(R"({{"code":{},"msg":"no pool"}})", code)});
  }

  Result<std::string> ask(cni::Command command, const std::string& master = "eth1", const std::string& members = "") {
    cni::Request request{.command = command,
                         .type = "macvlan",
                         .container_id = "c1",
                         .netns = "/run/netns/a",
                         .ifname = "net1",
                         .args_text = "",
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.1.0","name":"n","type":"macvlan","master":")" + master +
                                   R"(","ipam":{"type":"nv-ipam","poolName":"p"})" + members + "}"};
    auto config = cni::read_plugin_config(request.config);
    if (!config.has_value()) return std::unexpected(config.error());
    return plugin_request(backends, request, *config);
  }
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
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_THAT(*answer, HasSubstr("10.7.0.5/24"));
  EXPECT_THAT(inputs.front(), HasSubstr(R"("poolName":"p")"));
  EXPECT_THAT(interfaces(), ElementsAre("exec:net1#ipam", "net1"));
  for (Phase phase : {Phase::kPrepare, Phase::kWait, Phase::kKernel, Phase::kExec})
    EXPECT_EQ(counted(phase, "macvlan"), 1) << phase_name(phase);
  auto again = ask(cni::Command::kAdd);  // keeps the addresses that it has
  ASSERT_TRUE(again.has_value()) << again.error().story();
  EXPECT_EQ(*again, *answer);
  EXPECT_TRUE(ask(cni::Command::kCheck).has_value());
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_THAT(runs, ElementsAre("nv-ipam ADD", "nv-ipam CHECK", "nv-ipam DEL"));
  EXPECT_THAT(inputs.back(), HasSubstr("10.7.0.5/24"));  // prevResult
  EXPECT_TRUE(interfaces().empty());
}

TEST_F(ForeignIpamTest, GivesAddressesBackThatNoInterfaceCameToHave) {
  std::string before = kernel.snapshot();
  auto answer = ask(cni::Command::kAdd, "nowhere");
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().story(), HasSubstr("nowhere"));
  EXPECT_THAT(runs, ElementsAre("nv-ipam ADD", "nv-ipam DEL"));
  EXPECT_TRUE(interfaces().empty());
  EXPECT_EQ(kernel.snapshot(), before);
}

TEST_F(ForeignIpamTest, ReportsThePluginsOwnFailureAndMakesNothing) {
  install_failing("ADD");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(cni::code_of(answer.error()), 11);
  EXPECT_EQ(answer.error().story(), "plugin nv-ipam: no pool");
  EXPECT_THAT(runs, ElementsAre("nv-ipam ADD", "nv-ipam DEL"));
  EXPECT_TRUE(interfaces().empty());
}

TEST_F(ForeignIpamTest, RefusesAnAnswerWithoutAddresses) {
  install("nv-ipam", R"({"cniVersion":"1.0.0","ips":[]})");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().story(), HasSubstr("no address"));
  EXPECT_THAT(runs, ElementsAre("nv-ipam ADD", "nv-ipam DEL"));
}

TEST_F(ForeignIpamTest, TriesADelAgainThatFailed) {
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  install_failing("DEL");
  auto failed = ask(cni::Command::kDel);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().story(), "plugin nv-ipam: no pool");
  EXPECT_THAT(interfaces(), ElementsAre("exec:net1#ipam"));  // the interface is gone
  install("nv-ipam", kIpamAnswer);
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_TRUE(interfaces().empty());
}

TEST_F(ForeignIpamTest, PassesOnTheDelOfAPodFromBeforeAndGc) {
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  ASSERT_TRUE(ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[])").has_value());
  EXPECT_THAT(runs, ElementsAre("nv-ipam DEL", "nv-ipam GC"));
}

TEST_F(ForeignIpamTest, ReportsWhyGcFailed) {
  install_failing("GC");
  auto failed = ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[])");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(cni::code_of(failed.error()), 11);
  EXPECT_EQ(failed.error().story(), "plugin nv-ipam: no pool");
}

TEST_F(ForeignIpamTest, AnswersStatusAsItsIpamPluginDoes) {
  EXPECT_TRUE(ask(cni::Command::kStatus).has_value());
  install_failing("STATUS", 51);
  EXPECT_TRUE(ask(cni::Command::kStatus).has_value());  // the earlier answer is remembered
  auto other = ask(cni::Command::kStatus, "eth2");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(cni::code_of(other.error()), cni::kUnavailableLimited);
  EXPECT_EQ(other.error().story(), "plugin nv-ipam: no pool");
  install_failing("STATUS", 7);
  EXPECT_EQ(cni::code_of(ask(cni::Command::kStatus, "eth3").error()), cni::kUnavailable);
  EXPECT_THAT(runs, ElementsAre("nv-ipam STATUS", "nv-ipam STATUS", "nv-ipam STATUS"));
}

// kill -9 at every call of the ADD: the next agent's recovery and the DEL leave nothing behind.
TEST_F(ForeignIpamTest, SurvivesAKillAtEveryCall) {
  std::string before = kernel.snapshot();
  for (int calls = 0;; ++calls) {
    ASSERT_LT(calls, 200);
    kernel.kill_after(calls, os::FakeKernel::Kill::kUnanswered);
    auto answer = ask(cni::Command::kAdd);
    bool killed = kernel.killed();
    kernel.restart();
    if (!killed) {
      ASSERT_TRUE(answer.has_value()) << answer.error().story();
      return;
    }
    ASSERT_TRUE(meta.recover(engine));
    auto gone = ask(cni::Command::kDel);
    ASSERT_TRUE(gone.has_value()) << gone.error().story();
    EXPECT_TRUE(interfaces().empty());
    EXPECT_EQ(kernel.snapshot(), before);
  }
}

TEST_F(ForeignIpamTest, GcLeavesTheValidAloneAndReportsWhatCouldNotGo) {
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  ASSERT_TRUE(ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[{"containerID":"c1","ifname":"net1"}])")
                  .has_value());
  EXPECT_THAT(interfaces(), ElementsAre("exec:net1#ipam", "net1"));
  install_failing("DEL");
  auto failed = ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[])");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().story(), "plugin nv-ipam: no pool");
  EXPECT_THAT(interfaces(), ElementsAre("exec:net1#ipam"));
  // The interface is gone, its addresses are not: the next GC tries again, as long as it takes.
  failed = ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[])");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().story(), "plugin nv-ipam: no pool");
  EXPECT_THAT(interfaces(), ElementsAre("exec:net1#ipam"));
  install("nv-ipam", kIpamAnswer);
  ASSERT_TRUE(ask(cni::Command::kGc, "eth1", R"(,"cni.dev/valid-attachments":[])").has_value());
  EXPECT_TRUE(interfaces().empty());
  EXPECT_EQ(std::ranges::count(runs, "nv-ipam DEL"), 3);
}

}  // namespace
}  // namespace railbed::agent
