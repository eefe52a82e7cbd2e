// SPDX-License-Identifier: Apache-2.0
// The phases of a transaction, with records of its caller. What happens within bring() is in attach_test.cc and
// attach_faults_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

constexpr const char* kNote = "caller/note";

class Phases : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(message(kernel.netns().create("pod")), "");
    before = kernel.snapshot();
    request.interfaces = {
        wanted("net1", {R"({"type":"dummy","ipam":{"type":"static","addresses":[{"address":"10.1.0.2/24"}]}})"})};
    ASSERT_EQ(message(give_addresses(*store, request)), "");
  }

  Result<Transaction> begin() {
    return Transaction::begin(kernel, *store, request, kernel.clock().now() + std::chrono::seconds(10));
  }
  // What is recorded: statuses of attachments, and the caller's note.
  std::vector<std::string> recorded() {
    std::vector<std::string> out;
    const auto records = store->attachments();
    for (const state::Attachment& one : *records)
      out.push_back(one.status == state::AttachmentStatus::kAttached ? "attached" : "begun");
    if (const auto note = store->note(kNote); note->has_value()) out.push_back(**note);
    return out;
  }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> store = state::memory_store();
  PodRequest request{.pod = "default/a", .netns_path = "/run/netns/pod"};
  std::string before;
};

TEST_F(Phases, TheCallersRecordsAreCommittedWithTheLastOnes) {
  {
    auto attaching = begin();
    ASSERT_EQ(message(attaching), "");
    EXPECT_THAT(recorded(), testing::ElementsAre("begun"));
    EXPECT_EQ(kernel.snapshot(), before);
    const auto report = attaching->bring();
    ASSERT_EQ(message(report), "");
    EXPECT_EQ(report->attached, 1);
    ASSERT_EQ(message(attaching->open_records()), "");
    ASSERT_EQ(message(store->put_note(kNote, "mine")), "");
    ASSERT_EQ(message(attaching->commit()), "");
  }
  EXPECT_NE(kernel.snapshot(), before);
  EXPECT_THAT(recorded(), testing::ElementsAre("attached", "mine"));
}

TEST_F(Phases, AnInterfaceThatStaysHasATransactionForTheCallersRecordsToo) {
  ASSERT_EQ(message(attach_pod(kernel, *store, request, kernel.clock().now() + std::chrono::seconds(10))), "");
  const std::string attached = kernel.snapshot();
  for (const bool commits : {false, true}) {
    {
      auto attaching = begin();
      const auto report = attaching->bring();
      ASSERT_EQ(message(report), "");
      EXPECT_EQ(report->kept, 1);
      ASSERT_EQ(message(attaching->open_records()), "");
      ASSERT_EQ(message(store->put_note(kNote, "mine")), "");
      if (commits) {
        ASSERT_EQ(message(attaching->commit()), "");
      }
    }
    EXPECT_EQ(kernel.snapshot(), attached);
    const std::vector<std::string> wanted =
        commits ? std::vector<std::string>{"attached", "mine"} : std::vector<std::string>{"attached"};
    EXPECT_EQ(recorded(), wanted);
  }
}

// An exception, or a return between two phases.
TEST_F(Phases, WhatIsNotCommittedIsUndone) {
  for (int phases = 1; phases <= 3; ++phases) {
    {
      auto attaching = begin();
      ASSERT_EQ(message(attaching), "");
      if (phases >= 2) {
        ASSERT_EQ(message(attaching->bring()), "");
      }
      if (phases >= 3) {
        ASSERT_EQ(message(attaching->open_records()), "");
        ASSERT_EQ(message(store->put_note(kNote, "mine")), "");
      }
    }
    EXPECT_EQ(kernel.snapshot(), before) << phases;
    EXPECT_THAT(recorded(), testing::IsEmpty()) << phases;
  }
}

TEST_F(Phases, ARollBackKeepsTheCallersError) {
  auto attaching = begin();
  ASSERT_EQ(message(attaching->bring()), "");
  ASSERT_EQ(message(attaching->open_records()), "");
  ASSERT_EQ(message(store->put_note(kNote, "mine")), "");
  const Error why{.code = Code::kIo, .message = "the caller's table is full", .hint = "free some", .wire_code = 5};
  EXPECT_EQ(attaching->roll_back(why), why);
  EXPECT_EQ(kernel.snapshot(), before);
  EXPECT_THAT(recorded(), testing::IsEmpty());
  // Nothing is left to undo, and a second call undoes nothing of others.
  ASSERT_EQ(message(attach_pod(kernel, *store, request, kernel.clock().now() + std::chrono::seconds(10))), "");
  const std::string attached = kernel.snapshot();
  EXPECT_EQ(attaching->roll_back(why), why);
  EXPECT_EQ(kernel.snapshot(), attached);
}

TEST_F(Phases, AFailureWhileBringingUndoesItself) {
  auto attaching = begin();
  ASSERT_EQ(message(attaching), "");
  kernel.before("link", [&] {
    EXPECT_EQ(message(kernel.netns().remove("pod")), "");
    EXPECT_EQ(message(kernel.netns().create("pod")), "");
  });
  const auto report = attaching->bring();
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().story(),
            "pod default/a: network namespace /run/netns/pod vanished while its interfaces were attached");
  EXPECT_THAT(recorded(), testing::IsEmpty());
}

}  // namespace
}  // namespace railbed::attach
