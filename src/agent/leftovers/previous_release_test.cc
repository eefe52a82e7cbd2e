// SPDX-License-Identifier: Apache-2.0
// What the previous release (tools/previous-release) left is taken over: its state, its records on disk, the DELs that
// its shim kept. testdata/state/<commit> is as its agent wrote it (tests/cni/harness/records.py); only the numbers of
// namespaces become those of the machine in memory.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/door/service.h"
#include "agent/leftovers/leftovers.h"
#include "agent/leftovers/replay.h"
#include "agent/leftovers/restore_records.h"
#include "agent/records/exec_records.h"
#include "agent/test_requests.h"
#include "attach/attach.h"
#include "attach/namespaces.h"
#include "attach/record.h"
#include "base/testdata.h"
#include "doc/json.h"
#include "state/sqlite.h"

namespace railbed::agent {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kBoot = "00000000-0000-4000-8000-000000000001";

fs::path folder() {
  const std::string commit = content(testdata().parent_path() / "tools/previous-release");
  return testdata() / "state" / commit.substr(0, 8);
}

// Bytes, which the file has as code points below 256.
std::string bytes_of(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<uint8_t>(text[i]);
    bytes.push_back(first < 0x80 ? text[i] : static_cast<char>((first & 3) << 6 | (text[++i] & 0x3f)));
  }
  return bytes;
}

std::map<std::string, std::string> files_of_the_release() {
  doc::Diagnostics unread;
  auto text = std::make_shared<doc::Source>(doc::Source{"disk.json", content(folder() / "disk.json")});
  const auto value = doc::parse_json(text, unread);
  std::map<std::string, std::string> files;
  EXPECT_TRUE(value.has_value());
  for (const doc::Value::Member& one : *value->as_object()) files[one.key] = bytes_of(*one.value.as_string());
  return files;
}

// A machine with the pods of the previous release, whose agent was killed.
class PreviousReleaseTest : public testing::Test, protected RequestRig {
 protected:
  PreviousReleaseTest() : RequestRig(kBoot) {}

  void SetUp() override {
    char name[] = "/tmp/previous-release.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    for (const char* type : {"cluster", "bridge", "outside-ipam"}) install(type, std::string());
    for (const auto& [path, bytes] : files_of_the_release()) {
      ASSERT_TRUE(disk.make_directories(path.substr(0, path.rfind('/')), 0755).has_value());
      disk.put(path, bytes);
    }
    read_state();
  }
  void TearDown() override { fs::remove_all(directory_); }

  // The file is opened as at a start; its content goes into the rig's store.
  void read_state() {
    {
      auto db = state::Database::open(directory_ + "/state.db", false);
      ASSERT_TRUE(db.has_value());
      const auto done = (*db)->script(content(folder() / "state.sql").c_str());
      ASSERT_TRUE(done.has_value()) << done.error().to_string();
    }
    auto file = state::open_store({.directory = directory_, .boot_id = kBoot, .command = "railbed agent"});
    ASSERT_TRUE(file.has_value()) << file.error().to_string();
    const auto records = (*file)->attachments();
    for (const state::Attachment& one : *records) {
      (void)kernel.netns().create(one.netns.substr(one.netns.rfind('/') + 1));  // a pod has several
      ASSERT_TRUE(store->put_attachment(on_this_machine(one)).has_value());
    }
    const auto known = (*file)->pods();
    for (const state::PodRecord& one : *known) ASSERT_TRUE(store->put_pod(one).has_value());
    const auto leases = (*file)->all_leases();
    for (const state::AddressLease& one : *leases) ASSERT_TRUE(store->put_lease(one).has_value());
    for (const char* prefix : {"meta/", "host-local ", "ipam request ", "network-status/"}) {
      const auto notes = (*file)->notes(prefix);
      EXPECT_THAT(*notes, testing::Not(IsEmpty())) << prefix;
      for (const auto& [key, value] : *notes) ASSERT_TRUE(store->put_note(key, value).has_value());
    }
  }
  state::Attachment on_this_machine(state::Attachment record) {
    constexpr std::string_view kKey = R"("netns":")";
    const size_t key = record.undo.find(kKey);
    if (key == std::string::npos) return record;
    const size_t begin = key + kKey.size();
    const attach::NetnsRef ref{.path = record.netns,
                               .identity = *kernel.netns().identity(**kernel.netns().open(record.netns))};
    record.undo.replace(begin, record.undo.find('"', begin) - begin, fmt::format("{:x}", ref.identity->number));
    return record;
  }

  void start() {
    Engine::Turn turn = std::move(*engine.turn(std::chrono::milliseconds(0)));
    const auto report =
        attach::recover(kernel, *store, kernel.clock().now() + std::chrono::seconds(1), attach::LookForNamespaces::kNo);
    ASSERT_TRUE(report.has_value()) << report.error().to_string();
    EXPECT_TRUE(report->empty()) << "all of it lives";
    const auto restored = restore_records(turn.store(), durable);
    ASSERT_TRUE(restored.has_value());
    EXPECT_THAT(restored->warnings, IsEmpty());
    ASSERT_TRUE(turn.read_addresses().has_value());
    const auto problems = host_local.recover(turn);
    ASSERT_TRUE(problems.has_value());
    EXPECT_THAT(*problems, IsEmpty());
  }
  std::vector<cni::Request> kept_dels() {
    std::vector<cni::Request> all;
    for (const auto& [path, frame] : disk.files()) {
      if (!path.ends_with(".del")) continue;
      auto request = read_pending(frame);
      EXPECT_TRUE(request.has_value()) << path << request.error().to_string();
      if (request.has_value()) all.push_back(std::move(*request));
    }
    return all;
  }
  void expect_done(const cni::Request& request) {
    RequestStory story;
    const Reply reply = Service(backends, meta).handle(request, story);
    EXPECT_TRUE(reply.result.has_value()) << request.container_id << " " << request.type << ": " << text_of(reply);
  }
  // Of containers; a reservation for a pod of a manifest stays.
  void expect_nothing_left() {
    EXPECT_THAT(interfaces(), IsEmpty());
    const auto leases = store->all_leases();
    for (const state::AddressLease& one : *leases) EXPECT_EQ(one.pod.find('@'), std::string::npos) << one.pod;
    EXPECT_TRUE(store->notes("meta/")->empty());
    EXPECT_TRUE(store->notes("host-local file ")->empty());
    EXPECT_THAT(durable.read()->programs, IsEmpty());
    for (const auto& [path, text] : disk.files()) EXPECT_EQ(text.find("\r\n"), std::string::npos) << path;
    for (const char* run : {"cluster DEL", "bridge DEL", "outside-ipam DEL"}) EXPECT_THAT(runs, Contains(run));
  }

  std::string directory_;
};

TEST_F(PreviousReleaseTest, ItsRecordsAreRead) {
  std::set<std::string> kinds;
  const auto records = store->attachments();
  for (const state::Attachment& one : *records) {
    kinds.insert(one.type);
    if (is_of_program(one)) {
      const auto execution = execution_of(one, cni::Command::kDel);
      ASSERT_TRUE(execution.has_value()) << execution.error().to_string();
      EXPECT_THAT(execution->config, HasSubstr(one.network));
      EXPECT_EQ(one.status == state::AttachmentStatus::kBegun, one.pod.ends_with("rec-begun"));
      continue;
    }
    EXPECT_EQ(one.status, state::AttachmentStatus::kAttached);
    const auto before = attach::before_of(one);
    ASSERT_TRUE(before.has_value()) << before.error().to_string();
    EXPECT_TRUE(before->netns.has_value() && !before->netns->of_file) << one.undo;
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"exec:bridge", "exec:cluster", "exec:outside-ipam", "host-device", "macvlan",
                                          "sbr", "tuning"}));
  const auto on_disk = durable.read();
  EXPECT_EQ(on_disk->programs.size(), 4u);
  EXPECT_THAT(on_disk->unread, IsEmpty());
}

TEST_F(PreviousReleaseTest, ItsPodsGoByTheDelsThatItsShimKept) {
  start();
  const std::vector<cni::Request> dels = kept_dels();
  EXPECT_EQ(dels.size(), 9u);
  for (const cni::Request& one : dels) expect_done(one);
  expect_nothing_left();
}

// As of a runtime that was restarted: it does not know the namespace any more.
TEST_F(PreviousReleaseTest, ItsPodsGoAfterTheirNamespaces) {
  start();
  const auto records = store->attachments();
  for (const state::Attachment& one : *records)
    EXPECT_TRUE(is_of_program(one) || attach::netns_ref_of(one).nsid.has_value()) << one.pod << " " << one.interface;
  const auto names = kernel.netns().names();
  for (const std::string& name : *names) ASSERT_TRUE(kernel.netns().remove(name).has_value());
  for (cni::Request one : kept_dels()) {
    one.netns.clear();
    expect_done(one);
  }
  expect_nothing_left();
}

TEST_F(PreviousReleaseTest, WhatItWasKilledInIsUndoneAndNothingElse) {
  start();
  const size_t before = store->attachments()->size();
  const auto lines = meta.recover(engine);
  ASSERT_TRUE(lines.has_value());
  EXPECT_THAT(*lines, testing::ElementsAre("default/rec-begun@rec-begun exec:eth0#0: undone"));
  EXPECT_EQ(store->attachments()->size(), before - 1);
  EXPECT_THAT(runs, testing::ElementsAre("cluster DEL"));
  const auto left = find_leftovers(kernel, store.get(), disk, kPendingFolder, durable);
  for (const Leftover& one : *left) {
    // The executed bridge made no interface in this machine's memory.
    if (one.kind == LeftoverKind::kAddress && one.what == "10.161.0.2") continue;
    EXPECT_EQ(one.kind, LeftoverKind::kPending) << one.pod << " " << one.what;
  }
}

TEST_F(PreviousReleaseTest, ItsProgramsAreUndoneAfterALostState) {
  RequestRig lost(kBoot);
  lost.install("outside-ipam", std::string());
  for (const auto& [path, bytes] : disk.files()) {
    ASSERT_TRUE(lost.disk.make_directories(path.substr(0, path.rfind('/')), 0755).has_value());
    lost.disk.put(path, bytes);
  }
  const auto restored = restore_records(*lost.store, lost.durable);
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(restored->of_this_boot, 4);
  EXPECT_EQ(restored->of_earlier_boots, 0);
  for (const cni::Request& one : kept_dels()) {
    if (one.container_id != "rec-outside") continue;
    RequestStory story;
    EXPECT_TRUE(Service(lost.backends, lost.meta).handle(one, story).result.has_value());
  }
  EXPECT_THAT(lost.runs, Contains("outside-ipam DEL"));
  EXPECT_EQ(lost.durable.read()->programs.size(), 3u);
}

}  // namespace
}  // namespace railbed::agent
