// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/begun_records.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "attach/attach.h"

namespace railbed::agent {
namespace {

class BegunRecords : public RequestTest {
 protected:
  // A pod that runs, of which the state only knows that its ADD was begun.
  void SetUp() override {
    RequestTest::SetUp();
    cni::Request request{.command = cni::Command::kAdd,
                         .type = "macvlan",
                         .container_id = "c1",
                         .netns = "/run/netns/a",
                         .ifname = "net1",
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.0.0","name":"n","type":"macvlan","master":"eth1",)"
                                   R"("ipam":{"type":"host-local","subnet":"10.0.0.0/29"}})"};
    const auto config = cni::read_plugin_config(request.config);
    kernel.before("net1", [&] { begun_ = store->attachments()->front(); });
    ASSERT_TRUE(plugin_request(backends, request, *config).has_value());
    ASSERT_EQ(begun_.status, state::AttachmentStatus::kBegun);
    ASSERT_TRUE(store->put_attachment(begun_));
  }

  bool is_in_the_pod() {
    const auto netns = kernel.netns().open("/run/netns/a");
    return (*kernel.netns().links(**netns))->find(IfName{"net1"}, os::WithVfs::kNo).has_value();
  }
  int forgotten() {
    Engine::Turn turn = std::move(*engine.turn(kTurnWait));
    const auto count = forget_begun(turn);
    EXPECT_TRUE(count.has_value()) << count.error().story();
    EXPECT_TRUE(attach::recover(kernel, *store, kernel.clock().now() + std::chrono::seconds(5)).has_value());
    EXPECT_TRUE(host_local.recover(turn).has_value());
    return count.value_or(-1);
  }

  state::Attachment begun_;
  const std::string file_ = "/var/lib/cni/networks/n/10.0.0.2";
};

TEST_F(BegunRecords, OfAStateThatIsWholeAreUndone) {
  EXPECT_EQ(forgotten(), 0);
  EXPECT_FALSE(is_in_the_pod());
  EXPECT_FALSE(disk.files().contains(file_));
}

TEST_F(BegunRecords, OfAStateThatLostItsEndAreOfPodsThatMayRun) {
  ASSERT_TRUE(store->put_note(state::kLostItsEnd, "1 of 2"));
  EXPECT_EQ(forgotten(), 1);
  EXPECT_TRUE(is_in_the_pod());
  EXPECT_TRUE(disk.files().contains(file_)) << "the address stays the container's";
  EXPECT_TRUE(store->attachments()->empty() && store->all_leases()->empty());
}

// A name that lost its mount is a plain file: that must not keep the agent from starting.
TEST_F(BegunRecords, WhoseNamespaceCannotBeOpenedStay) {
  ASSERT_TRUE(store->put_note(state::kLostItsEnd, "1 of 2"));
  kernel.refuse_netns("/run/netns/a", EINVAL);
  EXPECT_EQ(forgotten(), 0);
  kernel.refuse_netns("/run/netns/a", 0);
  EXPECT_TRUE(is_in_the_pod());
  EXPECT_EQ(store->all_leases()->size(), 1U);
}

TEST_F(BegunRecords, WhoseInterfaceIsNotThereAreUndone) {
  ASSERT_TRUE(store->put_note(state::kLostItsEnd, "1 of 2"));
  const auto netns = kernel.netns().open("/run/netns/a");
  const auto links = kernel.netns().links(**netns);
  ASSERT_TRUE((*links)->remove((*links)->find(IfName{"net1"}, os::WithVfs::kNo)->index));
  EXPECT_EQ(forgotten(), 0);
  EXPECT_TRUE(store->attachments()->empty());
  EXPECT_FALSE(disk.files().contains(file_));
}

}  // namespace
}  // namespace railbed::agent
