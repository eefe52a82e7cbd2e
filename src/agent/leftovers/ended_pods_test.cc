// SPDX-License-Identifier: Apache-2.0
// Pods whose DEL never comes, or came while it was unknown that their namespace had ended.
#include "agent/leftovers/ended_pods.h"

#include <algorithm>
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "attach/record.h"

namespace railbed::agent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class EndedPodsTest : public RequestTest {
 protected:
  void SetUp() override {}

  Result<std::string> ask(cni::Command command, const std::string& container) {
    cni::Request request{.command = command,
                         .type = "host-device",
                         .container_id = container,
                         .netns = "/run/netns/" + container,
                         .ifname = "net1",
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.0.0","name":"n","type":"host-device","device":"eth1",)"
                                   R"("ipam":{"type":"host-local","subnet":"10.0.0.0/29"}})"};
    auto config = cni::read_plugin_config(request.config);
    if (!config.has_value()) return std::unexpected(config.error());
    return plugin_request(backends, request, *config);
  }
  std::string add(const std::string& container) {
    EXPECT_TRUE(kernel.netns().create(container));
    auto done = ask(cni::Command::kAdd, container);
    return done.has_value() ? "" : done.error().story();
  }
  void move(const std::string& from, const std::string& to) {
    const auto here = kernel.netns().open("/run/netns/" + from).value();
    const auto there = kernel.netns().open("/run/netns/" + to).value();
    const auto port = kernel.netns().links(*here).value();
    const auto link = port->find(IfName{"net1"}, os::WithVfs::kNo);
    ASSERT_TRUE(link.has_value());
    ASSERT_TRUE(port->change(link->index, {.netns = there.get()}));
  }
  void pass(seconds time) { kernel.clock().wait_until(kernel.clock().now() + time); }
  int files_of_host_local() {
    return static_cast<int>(std::ranges::count_if(
        disk.files(), [](const auto& file) { return file.first.starts_with("/var/lib/cni/networks/n/10.0.0."); }));
  }
  bool is_free() { return store->attachments()->empty() && store->all_leases()->empty(); }

  EndedPods ended{backends, meta, disk};
};

TEST_F(EndedPodsTest, WithoutADelAPodIsGivenBackAMinuteAfterItsEnd) {
  ASSERT_EQ(add("c1"), "");
  EXPECT_TRUE(ended.settle()->empty());
  kernel.vanish_netns("c1");
  EXPECT_TRUE(ended.settle()->empty());
  pass(seconds(59));
  EXPECT_TRUE(ended.settle()->empty());
  pass(seconds(1));
  const auto settled = ended.settle().value();
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_THAT(settled[0].key, HasSubstr("c1"));
  EXPECT_FALSE(settled[0].del_came);
  EXPECT_EQ(settled[0].failure, "");
  EXPECT_TRUE(is_free());
  EXPECT_TRUE(ended.settle()->empty());
  // The runtime's own DEL is a success anyway.
  EXPECT_TRUE(ask(cni::Command::kDel, "c1").has_value());
  EXPECT_EQ(add("c2"), "");
}

TEST_F(EndedPodsTest, ANamespaceThatOnlyLostItsNameHasNotEnded) {
  ASSERT_EQ(add("c1"), "");
  kernel.hide_netns("c1");
  EXPECT_TRUE(ended.settle()->empty());
  pass(seconds(3600));
  EXPECT_TRUE(ended.settle()->empty());
  EXPECT_FALSE(is_free());
}

TEST_F(EndedPodsTest, AnOrphanIsGivenBackAsSoonAsItsNamespaceHasEnded) {
  ASSERT_EQ(add("c1"), "");
  kernel.hide_netns("c1");
  ASSERT_TRUE(ask(cni::Command::kDel, "c1").has_value());
  EXPECT_TRUE(attach::is_orphan(store->attachments()->front()));
  EXPECT_EQ(store->all_leases()->size(), 1u);
  EXPECT_EQ(files_of_host_local(), 1);
  EXPECT_THAT(add("c2"), HasSubstr("eth1 is reserved for orphaned interface net1 of pod"));
  EXPECT_TRUE(ended.settle()->empty());
  kernel.end_hidden_netns();
  const auto settled = ended.settle().value();
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_TRUE(settled[0].del_came);
  EXPECT_EQ(settled[0].failure, "");
  EXPECT_TRUE(is_free());
  EXPECT_EQ(files_of_host_local(), 0);
  EXPECT_EQ(add("c3"), "");
}

// What the pod has moved to a namespace of its own, and from there to the next.
TEST_F(EndedPodsTest, WhatAPodHasHiddenIsGivenBackWhenTheLastNamespaceWithItHasEnded) {
  ASSERT_EQ(add("c1"), "");
  for (const char* name : {"inner", "deep"}) ASSERT_TRUE(kernel.netns().create(name));
  move("c1", "inner");
  ASSERT_TRUE(ask(cni::Command::kDel, "c1").has_value());
  EXPECT_EQ(attach::orphaned_by(store->attachments()->front()), attach::OrphanedBy::kHidden);
  EXPECT_THAT(add("c2"), HasSubstr("after its DEL, the pod has moved it from network namespace"));
  ASSERT_TRUE(kernel.netns().remove("c1"));
  EXPECT_TRUE(ended.settle()->empty());
  move("inner", "deep");
  ASSERT_TRUE(kernel.netns().remove("inner"));
  EXPECT_TRUE(ended.settle()->empty());
  EXPECT_FALSE(is_free());
  ASSERT_TRUE(kernel.netns().remove("deep"));
  const auto settled = ended.settle().value();
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_EQ(settled[0].failure, "");
  EXPECT_TRUE(is_free());
  EXPECT_EQ(add("c3"), "");
}

TEST_F(EndedPodsTest, WhatCannotBeGivenBackIsReportedOnceAMinute) {
  ASSERT_EQ(add("c1"), "");
  kernel.vanish_netns("c1");
  (void)ended.settle();
  pass(EndedPods::kPatience);
  disk.refuse(EROFS);
  auto settled = ended.settle().value();
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_NE(settled[0].failure, "");
  EXPECT_TRUE(ended.settle()->empty());
  disk.refuse(0);
  pass(EndedPods::kPatience);
  settled = ended.settle().value();
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_EQ(settled[0].failure, "");
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace railbed::agent
