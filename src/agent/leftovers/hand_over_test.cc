// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/hand_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/records/meta_records.h"
#include "agent/test_requests.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;

class HandOver : public RequestTest {
 protected:
  void add(const std::string& type, const std::string& ifname, const std::string& members) {
    cni::Request request{.command = cni::Command::kAdd,
                         .type = type,
                         .container_id = "c1",
                         .netns = "/run/netns/a",
                         .ifname = ifname,
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.0.0","name":"n","type":")" + type + "\"," + members + "}"};
    auto config = cni::read_plugin_config(request.config);
    ASSERT_TRUE(config.has_value()) << config.error().story();
    auto answer = plugin_request(backends, request, *config);
    ASSERT_TRUE(answer.has_value()) << answer.error().story();
  }
  std::string alias_of(const char* ifname) {
    auto netns = kernel.netns().open("/run/netns/a");
    auto links = kernel.netns().links(**netns);
    return (*links)->find(IfName{ifname}, os::WithVfs::kNo)->alias;
  }
};

TEST_F(HandOver, GivesHostDeviceTheNameAtHome) {
  add("host-device", "net1", R"("device":"eth1")");
  add("macvlan", "net2", R"("master":"eth0")");
  for (int i = 0; i < 2; ++i) {
    auto done = hand_over(kernel, *store);
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
    EXPECT_EQ(done->interfaces, 2);
    EXPECT_THAT(done->problems, ElementsAre());
    EXPECT_EQ(alias_of("net1"), "eth1");
    EXPECT_EQ(alias_of("net2"), "");
  }
}

TEST_F(HandOver, SaysWhatOnlyRailbedCanGiveBack) {
  add("host-device", "net1", R"("device":"eth1")");
  kernel.vanish_netns("a");
  ASSERT_TRUE(store->put_attachment({.pod = "ns/b@c2", .interface = "net1", .type = "sriov"}));
  ASSERT_TRUE(store->put_attachment({.pod = "ns/c@c3", .interface = "net1", .type = "macvlan"}));
  ASSERT_TRUE(store->put_attachment({.pod = "ns/d", .interface = "net1", .type = "sriov"}));  // `up` did it
  ASSERT_TRUE(put_sandbox_note(*store, {.key = "ns/c@c3"}));
  auto done = hand_over(kernel, *store);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->interfaces, 3);
  EXPECT_THAT(
      done->problems,
      ElementsAre("@c1 net1 (host-device): the original plugin will not know its name on the host: " +
                      kernel.netns().open("/run/netns/a").error().story(),
                  "ns/b@c2 net1 (sriov): the original plugin has no file for it and would leave the device as the pod "
                  "configured it",
                  "ns/c@c3 net1 (macvlan): the meta plugin attached it, so only railbed can release it"));
}

}  // namespace
}  // namespace railbed::agent
