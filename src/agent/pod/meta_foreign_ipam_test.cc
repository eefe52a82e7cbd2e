// SPDX-License-Identifier: Apache-2.0
// Networks of pods with an IPAM type that is not ours, whose plugin is executed.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/test_meta.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kForeignIpam = R"({"cniVersion":"1.0.0","type":"macvlan","master":"eth1",)"
                                     R"("ipam":{"type":"nv-ipam","poolName":"p"}})";
constexpr const char* kForeignAnswer =
    R"({"cniVersion":"1.0.0","ips":[{"address":"10.7.0.5/24","gateway":"10.7.0.1"}],)"
    R"("routes":[{"dst":"10.8.0.0/16"}],"dns":{"nameservers":["10.7.0.2"]}})";

TEST_F(MetaTest, ExecutesAnIpamPluginThatIsNotOurs) {
  install("nv-ipam", kForeignAnswer);
  pods.add_network("rail", kForeignIpam);
  pods.add_pod("rail");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_THAT(interfaces(), ElementsAre("exec:eth0#0", "exec:net1#ipam", "net1"));
  EXPECT_THAT(pods.published["ns/a@c1"], HasSubstr("10.7.0.5"));
  auto netns = kernel.netns().open("/run/netns/a");
  auto links = kernel.netns().links(**netns);
  auto routes = (*links)->routes();
  EXPECT_TRUE(std::ranges::any_of(*routes, [](const Route& route) {
    return route.destination.to_string() == "10.8.0.0/16" && route.gateway.has_value() &&
           route.gateway->to_string() == "10.7.0.1";
  }));
  auto checked = ask(cni::Command::kCheck);
  EXPECT_TRUE(checked.has_value()) << checked.error().story();
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_THAT(runs,
              ElementsAre("bridge ADD", "nv-ipam ADD", "bridge CHECK", "nv-ipam CHECK", "nv-ipam DEL", "bridge DEL"));
  expect_nothing_left();
}

// With a default network of railbed's plugins.
constexpr const char* kForeignDefault =
    R"("delegates":[{"cniVersion":"1.1.0","name":"m","plugins":[)"
    R"({"type":"macvlan","master":"eth1","ipam":{"type":"nv-ipam"}},{"type":"tuning"}]}])";

TEST_F(MetaTest, CollectsBelowADefaultNetworkOfOursToo) {
  install("nv-ipam", kForeignAnswer);
  delegates = kForeignDefault;
  const char* valid = R"(,"cni.dev/valid-attachments":[{"containerID":"c1","ifname":"eth0"}])";
  auto done = ask(cni::Command::kGc, valid);
  ASSERT_TRUE(done.has_value()) << done.error().story();
  ASSERT_THAT(runs, ElementsAre("nv-ipam GC"));
  EXPECT_THAT(inputs[0], HasSubstr(R"("cni.dev/valid-attachments":[{"containerID":"c1","ifname":"eth0"}])"));
  EXPECT_THAT(inputs[0], HasSubstr(R"("ipam":{"type":"nv-ipam"})"));
  install("nv-ipam", {.output = "", .failing = "GC", .failure = R"({"code":11,"msg":"locked"})"});
  auto failed = ask(cni::Command::kGc, valid);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(cni::code_of(failed.error()), 11);
  EXPECT_EQ(failed.error().story(), "plugin nv-ipam: locked");
  runs.clear();
  delegates = std::string(kForeignDefault).replace(delegates.find("1.1.0"), 5, "1.0.0");
  EXPECT_TRUE(ask(cni::Command::kGc, valid).has_value());
  EXPECT_THAT(runs, ElementsAre());  // 1.0.0 has no GC
}

TEST_F(MetaTest, AnswersStatusForAnIpamTypeBelowADefaultNetworkOfOurs) {
  delegates = kForeignDefault;
  auto missing = ask(cni::Command::kStatus);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(cni::code_of(missing.error()), cni::kUnavailable);
  EXPECT_EQ(missing.error().story(), "plugin nv-ipam not found in /opt/cni/bin");
  EXPECT_THAT(runs, ElementsAre());
  // Each case has its own configuration, because answers are remembered.
  struct Case {
    const char* failure;
    int code;
  };
  for (const Case& one : {Case{R"({"code":50,"msg":"no pool"})", 50}, Case{R"({"code":51,"msg":"no pool"})", 51},
                          Case{R"({"code":999,"msg":"no pool"})", 50}}) {
    install("nv-ipam", {.output = "", .failing = "STATUS", .failure = one.failure});
    auto answer = ask(cni::Command::kStatus, std::string(R"(,"of":)") + one.failure);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(cni::code_of(answer.error()), one.code);
    EXPECT_EQ(answer.error().story(), "plugin nv-ipam: no pool");
  }
  install("nv-ipam", kForeignAnswer);
  EXPECT_TRUE(ask(cni::Command::kStatus, R"(,"of":"well")").has_value());
}

TEST_F(MetaTest, GivesBackForeignAddressesWhenTheInterfaceCannotBeMade) {
  install("nv-ipam", kForeignAnswer);
  std::string config = kForeignIpam;
  pods.add_network("rail", config.replace(config.find("eth1"), 4, "none"));
  pods.add_pod("rail");
  ASSERT_FALSE(ask(cni::Command::kAdd).has_value());
  EXPECT_THAT(runs, ElementsAre("bridge ADD", "nv-ipam ADD", "nv-ipam DEL", "bridge DEL"));
  expect_nothing_left();
}

}  // namespace
}  // namespace railbed::agent
