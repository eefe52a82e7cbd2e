// SPDX-License-Identifier: Apache-2.0
// A pod whose device does not come home: its own DEL waits, nothing else does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/test_requests.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

class HeldDevice : public RequestTest {
 protected:
  void SetUp() override {
    RequestTest::SetUp();
    ASSERT_TRUE(kernel.netns().create("b").has_value());
  }

  Result<std::string> ask(cni::Command command, const std::string& pod, const std::string& config) {
    cni::Request request{.command = command,
                         .type = config.find("host-device") == std::string::npos ? "macvlan" : "host-device",
                         .container_id = "c-" + pod,
                         .netns = "/run/netns/" + pod,
                         .ifname = "eth0",
                         .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", pod}},
                         .config = config};
    auto read = cni::read_plugin_config(request.config);
    return read.has_value() ? plugin_request(backends, request, *read) : std::unexpected(read.error());
  }

  const std::string device_ = R"({"cniVersion":"1.1.0","name":"n","type":"host-device","device":"eth1"})";
  const std::string other_ = R"({"cniVersion":"1.1.0","name":"o","type":"macvlan","master":"eth0",)"
                             R"("ipam":{"type":"host-local","subnet":"10.5.0.0/24"}})";
};

std::string text_of(const Result<std::string>& outcome) {
  return outcome.has_value() ? "" : fmt::format("{}: {}", cni::code_of(outcome.error()), outcome.error().story());
}

TEST_F(HeldDevice, CostsOtherPodsNothing) {
  ASSERT_EQ(text_of(ask(cni::Command::kAdd, "a", device_)), "");
  kernel.delay_netns_end(std::chrono::seconds(30));
  ASSERT_TRUE(kernel.netns().remove("a").has_value());
  bool waited = false;
  kernel.before("wait for uevent", [&] {
    waited = true;
    const auto turn = engine.turn(milliseconds(0));
    ASSERT_TRUE(turn.has_value()) << turn.error().story();
  });
  std::string added = "not asked";
  kernel.before("wait for uevent", [&] {
    if (engine.turn(milliseconds(0)).has_value()) added = text_of(ask(cni::Command::kAdd, "b", other_));
  });
  EXPECT_EQ(text_of(ask(cni::Command::kDel, "a", device_)), "");
  EXPECT_TRUE(waited);
  EXPECT_EQ(added, "");
  const auto records = store->attachments();
  ASSERT_EQ(records->size(), 1U);
  EXPECT_EQ(records->front().pod, "ns/b@c-b");
  EXPECT_THAT(kernel.snapshot(), testing::HasSubstr("eth1 "));
}

// The kernel takes tens of milliseconds to remove interfaces, nearly all of it without its lock.
TEST_F(HeldDevice, RemovesInterfacesWithoutTheTurn) {
  ASSERT_EQ(text_of(ask(cni::Command::kAdd, "a", other_)), "");
  std::string added = "not asked";
  kernel.before("remove eth0 ", [&] {
    if (engine.turn(milliseconds(0)).has_value()) added = text_of(ask(cni::Command::kAdd, "b", other_));
  });
  EXPECT_EQ(text_of(ask(cni::Command::kDel, "a", other_)), "");
  EXPECT_EQ(added, "");
  const auto leases = store->all_leases();
  ASSERT_EQ(leases->size(), 1U);
  // Its address was not given to another pod before its interface had gone.
  EXPECT_EQ(leases->front().address.to_string(), "10.5.0.3");
}

TEST_F(HeldDevice, WaitsNoLongerThanTheAgentLives) {
  ASSERT_EQ(text_of(ask(cni::Command::kAdd, "a", device_)), "");
  kernel.delay_netns_end(std::chrono::minutes(3));
  ASSERT_TRUE(kernel.netns().remove("a").has_value());
  const os::Deadline begin = kernel.clock().now();
  kernel.before("wait for uevent", [&] { engine.stop(); });
  EXPECT_THAT(text_of(ask(cni::Command::kDel, "a", device_)), testing::HasSubstr("asked to stop"));
  EXPECT_LE(kernel.clock().now() - begin, milliseconds(200));
  EXPECT_EQ(store->attachments()->size(), 1U);
}

}  // namespace
}  // namespace railbed::agent
