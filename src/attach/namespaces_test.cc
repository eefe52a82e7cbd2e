// SPDX-License-Identifier: Apache-2.0
// A namespace that loses its name is not one that has ended: what its pod has stays the pod's.
#include "attach/namespaces.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NamespacesTest : public testing::Test {
 protected:
  void SetUp() override { make("pod"); }

  void make(const std::string& name) { ASSERT_EQ(message(kernel.netns().create(name)), ""); }
  NetnsRef ref(const std::string& name) { return netns_ref_at(kernel, "/run/netns/" + name).value(); }
  NetnsPlace place(const NetnsRef& ref) {
    Namespaces spaces(kernel);
    spaces.open({ref});
    if (!spaces.all_known()) spaces.look();
    return spaces.place_of(ref);
  }

  os::FakeKernel kernel;
};

TEST_F(NamespacesTest, IsAtItsPath) {
  const NetnsRef pod = ref("pod");
  EXPECT_EQ(place(pod).state, NetnsState::kThere);
  EXPECT_EQ(place(pod).netns->path(), "/run/netns/pod");
}

TEST_F(NamespacesTest, HasEndedOnlyIfTheKernelSaysSo) {
  const NetnsRef pod = ref("pod");
  kernel.hide_netns("pod");
  EXPECT_EQ(place(pod).state, NetnsState::kUnknown);
  EXPECT_FALSE(place(pod).error.has_value());
  kernel.end_hidden_netns();
  EXPECT_EQ(place(pod).state, NetnsState::kEnded);
}

TEST_F(NamespacesTest, IsFoundWithoutAName) {
  const NetnsRef pod = ref("pod");
  const auto held = kernel.netns().open("/run/netns/pod").value();  // as by a process of the pod
  ASSERT_EQ(message(kernel.netns().remove("pod")), "");
  const NetnsPlace found = place(pod);
  EXPECT_EQ(found.state, NetnsState::kThere);
  EXPECT_EQ(kernel.netns().identity(*found.netns).value(), *pod.identity);
}

TEST_F(NamespacesTest, IsNotAnotherOneThatHasThePathNow) {
  const NetnsRef pod = ref("pod");
  kernel.hide_netns("pod");
  make("pod");
  EXPECT_EQ(place(pod).state, NetnsState::kUnknown);
  EXPECT_EQ(place(ref("pod")).state, NetnsState::kThere);
}

// The kernel gives a number that is free again.
TEST_F(NamespacesTest, HasEndedIfAnotherOneHasItsNumber) {
  const NetnsRef pod = ref("pod");
  ASSERT_EQ(message(kernel.netns().remove("pod")), "");
  make("next");
  EXPECT_EQ(ref("next").nsid, pod.nsid);
  EXPECT_EQ(place(pod).state, NetnsState::kEnded);
}

TEST_F(NamespacesTest, WithoutANumberNothingProvesItsEnd) {
  NetnsRef pod = ref("pod");
  pod.nsid.reset();
  ASSERT_EQ(message(kernel.netns().remove("pod")), "");
  EXPECT_EQ(place(pod).state, NetnsState::kUnknown);
}

// A file's number is given again: it may show another namespace for this one, so it is not looked for.
TEST_F(NamespacesTest, IsNotLookedForByTheNumberOfItsFile) {
  NetnsRef pod = ref("pod");
  pod.identity->of_file = true;
  const auto held = kernel.netns().open("/run/netns/pod").value();
  ASSERT_EQ(message(kernel.netns().remove("pod")), "");
  EXPECT_EQ(place(pod).state, NetnsState::kUnknown);
}

TEST_F(NamespacesTest, ReportsWhyItCannotBeLookedAt) {
  const NetnsRef pod = ref("pod");
  kernel.refuse_netns("/run/netns/pod", EMFILE);
  const NetnsPlace found = place(pod);
  EXPECT_EQ(found.state, NetnsState::kUnknown);
  ASSERT_TRUE(found.error.has_value());
  EXPECT_EQ(found.error->to_string(), "open network namespace /run/netns/pod: EMFILE (Too many open files)");
}

// --- what is attached in one that is out of reach

class OrphanTest : public NamespacesTest {
 protected:
  os::Deadline soon() { return kernel.clock().now() + std::chrono::seconds(10); }
  Result<PodReport> attach(const std::string& pod, const std::string& netns, const std::string& interface = "net1") {
    InterfaceRequest one = wanted(
        interface, {R"({"type":"host-device","device":"eth1","ipam":{"type":"host-local","subnet":"10.0.0.0/24"}})"});
    return attach_with_addresses(kernel, *store, {.pod = pod, .netns_path = "/run/netns/" + netns, .interfaces = {one}},
                                 soon());
  }
  std::unique_ptr<state::Store> store = state::memory_store();
};

TEST_F(OrphanTest, KeepsDeviceAndAddressUntilItsNamespaceHasEnded) {
  ASSERT_EQ(message(attach("default/a", "pod")), "");
  kernel.hide_netns("pod");
  auto report = detach_pod(kernel, *store, "default/a", soon());
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->detached, 0);
  EXPECT_EQ(report->orphaned, 1);
  EXPECT_THAT(report->notes,
              ElementsAre("interface net1 is orphaned: network namespace /run/netns/pod was not found, but still "
                          "exists; eth1 and its addresses stay reserved until the last process, mount or socket of "
                          "that namespace ends"));
  ASSERT_EQ(store->attachments()->size(), 1u);
  EXPECT_TRUE(is_orphan(store->attachments()->front()));
  EXPECT_EQ(store->all_leases()->size(), 1u);

  // No other pod gets them, and a second DEL changes nothing.
  make("next");
  EXPECT_THAT(message(attach("default/b", "next")),
              HasSubstr("eth1 is reserved for orphaned interface net1 of pod default/a"));
  report = detach_pod(kernel, *store, "default/a", soon());
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->orphaned, 0);
  EXPECT_EQ(store->attachments()->size(), 1u);
  EXPECT_TRUE(recover(kernel, *store, soon())->finished.empty());

  kernel.end_hidden_netns();
  EXPECT_THAT(recover(kernel, *store, soon())->finished, ElementsAre("default/a net1"));
  EXPECT_TRUE(store->attachments()->empty());
  EXPECT_TRUE(store->all_leases()->empty());
  EXPECT_EQ(message(attach("default/b", "next")), "");
}

TEST_F(OrphanTest, IsGivenBackFromWhereItsNamespaceIsFound) {
  ASSERT_EQ(message(attach("default/a", "pod")), "");
  const auto held = kernel.netns().open("/run/netns/pod").value();
  ASSERT_EQ(message(kernel.netns().remove("pod")), "");
  const auto report = detach_pod(kernel, *store, "default/a", soon());
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->detached, 1);
  EXPECT_TRUE(store->attachments()->empty());
  EXPECT_THAT(kernel.snapshot(), HasSubstr("eth1 mtu"));
}

// Records of a version that wrote no number, and of executed plugins nothing of the namespace.
class OldRecordsTest : public OrphanTest {
 protected:
  void SetUp() override {
    OrphanTest::SetUp();
    ASSERT_EQ(message(attach("default/a", "pod")), "");
    state::Attachment record = store->attachments()->front();
    const size_t number = record.undo.find(",\"nsid\":");
    ASSERT_NE(number, std::string::npos);
    record.undo.erase(number, record.undo.find_first_of(",}", number + 1) - number);
    ASSERT_TRUE(store->put_attachment(record));
    for (const char* path : {"/run/netns/pod", "/run/netns/other"})
      ASSERT_TRUE(store->put_attachment({.pod = "default/a",
                                         .interface = std::string("exec:") + path,
                                         .netns = path,
                                         .type = "exec:bridge",
                                         .status = state::AttachmentStatus::kAttached,
                                         .undo = R"({"container":"c1"})"}));
  }
  NetnsRef ref_of(const std::string& interface) {
    const auto records = store->attachments();
    for (const state::Attachment& one : *records)
      if (one.interface == interface) return netns_ref_of(one);
    return {};
  }
};

TEST_F(OldRecordsTest, GetTheNumberAtAStartSoThatTheirEndCanBeProven) {
  const NetnsRef pod = ref("pod");
  EXPECT_EQ(ref_of("net1").nsid, std::nullopt);
  ASSERT_TRUE(recover(kernel, *store, soon()).has_value());
  EXPECT_EQ(ref_of("net1"), pod);
  EXPECT_EQ(ref_of("exec:/run/netns/pod"), pod);
  EXPECT_EQ(ref_of("exec:/run/netns/other").nsid, std::nullopt) << "which one it was is not known";
  kernel.hide_netns("pod");
  ASSERT_EQ(detach_interface(kernel, *store, "default/a", "net1", soon())->orphaned, 1);
  kernel.end_hidden_netns();
  EXPECT_THAT(recover(kernel, *store, soon())->finished, ElementsAre("default/a net1"));
  EXPECT_TRUE(store->all_leases()->empty());
}

TEST_F(OldRecordsTest, GetNoNumberOfWhatIsAtTheirPathNow) {
  kernel.hide_netns("pod");
  make("pod");
  ASSERT_TRUE(recover(kernel, *store, soon()).has_value());
  EXPECT_EQ(ref_of("net1").nsid, std::nullopt);
  EXPECT_EQ(ref_of("exec:/run/netns/pod").nsid, std::nullopt);
}

// Before Linux 5.14 they say the number of the file, as if it were one that is never given again.
TEST_F(OldRecordsTest, ANumberOfAFileIsKnownByItsSize) {
  for (const auto& [text, of_file] : {std::pair("efffffff", false), std::pair("f0000000", true),
                                      std::pair("ffffffff", true), std::pair("100000000", false)}) {
    const state::Attachment record{.undo = fmt::format(R"({{"netns":"{}"}})", text)};
    EXPECT_EQ(netns_ref_of(record).identity->of_file, of_file) << text;
  }
}

// At a start the pod may be as alive as before: only its name is gone.
TEST_F(OrphanTest, WhatIsAttachedStaysSoWithoutAName) {
  ASSERT_EQ(message(attach("default/a", "pod")), "");
  kernel.hide_netns("pod");
  const auto report = recover(kernel, *store, soon());
  EXPECT_TRUE(report->finished.empty());
  EXPECT_THAT(report->unreachable, ElementsAre("default/a net1"));
  ASSERT_EQ(store->attachments()->size(), 1u);
  EXPECT_EQ(store->attachments()->front().status, state::AttachmentStatus::kAttached);
}

TEST_F(OrphanTest, ANamespaceThatCannotBeLookedAtIsAFailureThatPasses) {
  ASSERT_EQ(message(attach("default/a", "pod")), "");
  kernel.refuse_netns("/run/netns/pod", EMFILE);
  EXPECT_THAT(message(detach_pod(kernel, *store, "default/a", soon())), HasSubstr("EMFILE"));
  EXPECT_FALSE(is_orphan(store->attachments()->front()));
  kernel.refuse_netns("/run/netns/pod", 0);
  EXPECT_EQ(message(detach_pod(kernel, *store, "default/a", soon())), "");
  EXPECT_TRUE(store->attachments()->empty());
}

}  // namespace
}  // namespace railbed::attach
