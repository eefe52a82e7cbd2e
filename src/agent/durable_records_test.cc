// SPDX-License-Identifier: Apache-2.0
// Records on disk: what is written is read again in its order, whole or not at all, and refused when it cannot be
// written.
#include "agent/durable_records.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/records/exec_records.h"
#include "os/fake/disk.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

state::Attachment record_of(const std::string& container, const std::string& ifname, const std::string& token = "x") {
  return program_record("ns/p@" + container, "cbr0", 0,
                        {.type = "calico",
                         .container_id = container,
                         .netns = "/run/netns/a",
                         .ifname = ifname,
                         .args = "",
                         .path = {"/opt/cni/bin"},
                         .config = R"({"token":")" + token + "\"}"},
                        "1.0.0");
}

class DurableRecordsTest : public testing::Test {
 protected:
  std::vector<DurableProgram> programs() {
    auto content = DurableRecords(disk, kDurableRecords, "boot-2").read();
    EXPECT_TRUE(content.has_value());
    if (!content.has_value()) return {};
    unread = content->unread;
    return content->programs;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const DurableProgram& one : programs()) all.push_back(one.record.pod + " " + one.record.interface);
    return all;
  }

  os::FakeDisk disk;
  DurableRecords records{disk, kDurableRecords, "boot-1"};
  std::vector<std::string> unread;
};

// Other versions of railbed read these words after an upgrade, or a downgrade.
TEST_F(DurableRecordsTest, AreStoredInTheseWords) {
  state::Attachment record{.pod = "ns/p@c",
                           .interface = "exec:eth0#0",
                           .netns = "/n",
                           .network = "cbr0",
                           .type = "exec:calico",
                           .status = state::AttachmentStatus::kBegun,
                           .device = "",
                           .resource = "",
                           .undo = "{}",
                           .result = ""};
  ASSERT_TRUE(records.put_program(record, std::nullopt).has_value());
  EXPECT_EQ(disk.read(std::string(kDurableRecords) + "/00000000000000000001.json").value(),
            R"({"version":1,"minReader":1,"boot":"boot-1","pod":"ns/p@c","interface":"exec:eth0#0","netns":"/n",)"
            R"("network":"cbr0","type":"exec:calico","status":"begun","undo":"{}"})");
  record.status = state::AttachmentStatus::kAttached;
  record.device = "0000:01:00.2";
  record.resource = "vendor/vf";
  record.result = "{}";
  ASSERT_TRUE(
      records.put_program(record, MetaSandbox{.network = "pods", .ifname = "eth0", .pod_uid = "u1"}).has_value());
  EXPECT_EQ(disk.read(std::string(kDurableRecords) + "/00000000000000000001.json").value(),
            R"({"version":1,"minReader":1,"boot":"boot-1","pod":"ns/p@c","interface":"exec:eth0#0","netns":"/n",)"
            R"("network":"cbr0","type":"exec:calico","status":"attached","device":"0000:01:00.2",)"
            R"("resource":"vendor/vf","undo":"{}","result":"{}",)"
            R"("sandbox":{"network":"pods","ifname":"eth0","uid":"u1"}})");
  ASSERT_TRUE(records.put_directory("/run/ipam/n", "n").has_value());
  EXPECT_EQ(disk.read(std::string(kDurableRecords) + "/00000000000000000002.json").value(),
            R"({"version":1,"minReader":1,"boot":"boot-1","hostLocal":"/run/ipam/n","network":"n"})");
}

TEST_F(DurableRecordsTest, AnotherProcessReadsWhatWasWrittenInItsOrder) {
  const MetaSandbox sandbox{.network = "pods", .ifname = "eth0", .pod_uid = "u1"};
  state::Attachment first = record_of("c2", "eth0");
  first.device = "0000:01:00.2";
  first.resource = "vendor/vf";
  const state::Attachment second = record_of("c1", "net1");
  ASSERT_TRUE(records.put_program(first, sandbox).has_value());
  ASSERT_TRUE(records.put_program(second, std::nullopt).has_value());
  first.status = state::AttachmentStatus::kAttached;
  first.result = R"({"ips":[]})";
  ASSERT_TRUE(records.put_program(first, sandbox).has_value());
  EXPECT_THAT(programs(),
              ElementsAre(DurableProgram{first, sandbox, "boot-1"}, DurableProgram{second, std::nullopt, "boot-1"}));
  ASSERT_TRUE(records.forget_programs({first}).has_value());
  ASSERT_TRUE(records.forget_programs({first}).has_value());
  EXPECT_THAT(names(), ElementsAre("ns/p@c1 exec:net1#0"));
  // A later agent goes on counting, and rewrites what an earlier one wrote.
  DurableRecords later(disk, kDurableRecords, "boot-2");
  ASSERT_TRUE(later.put_program(record_of("c3", "eth0"), std::nullopt).has_value());
  ASSERT_TRUE(later.put_program(second, std::nullopt).has_value());
  EXPECT_THAT(names(), ElementsAre("ns/p@c1 exec:net1#0", "ns/p@c3 exec:eth0#0"));
  ASSERT_TRUE(later.forget_programs({second, record_of("c3", "eth0")}).has_value());
  EXPECT_TRUE(disk.files().empty());
}

TEST_F(DurableRecordsTest, AnAgentForgetsAlsoWhatOnlyAnEarlierOneWrote) {
  ASSERT_TRUE(records.put_program(record_of("c1", "eth0"), std::nullopt).has_value());
  DurableRecords later(disk, kDurableRecords, "boot-1");
  ASSERT_TRUE(later.forget_programs({record_of("c1", "eth0")}).has_value());
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(DurableRecordsTest, NothingIsMadeForAMachineWithoutPrograms) {
  EXPECT_THAT(names(), IsEmpty());
  ASSERT_TRUE(records.forget_programs({record_of("c1", "eth0")}).has_value());
  EXPECT_EQ(disk.changes(), 0);
}

TEST_F(DurableRecordsTest, DirectoriesAreNotedOnce) {
  ASSERT_TRUE(records.put_directory("/data/n", "n").has_value());
  const int changes = disk.changes();
  ASSERT_TRUE(records.put_directory("/data/n", "n").has_value());
  DurableRecords later(disk, kDurableRecords, "boot-2");
  ASSERT_TRUE(later.put_directory("/data/n", "n").has_value());
  EXPECT_EQ(disk.changes(), changes);
  EXPECT_THAT(later.read()->directories, ElementsAre(std::pair<std::string, std::string>("/data/n", "n")));
}

// After a power failure at any write, what put_program() and forget_programs() have said is so, and a record in between
// is there whole or absent.
TEST_F(DurableRecordsTest, APowerFailureLeavesWholeRecords) {
  const state::Attachment one = record_of("c1", "eth0");
  const state::Attachment changed = record_of("c1", "eth0", "y");
  bool all_done = false;
  for (int writes = 0; !all_done; ++writes)
    for (auto unsynced : {os::FakeDisk::Unsynced::kLost, os::FakeDisk::Unsynced::kKept}) {
      os::FakeDisk power;
      DurableRecords before(power, kDurableRecords, "boot-1");
      power.kill_after(writes, {});
      const bool put = before.put_program(one, std::nullopt).has_value();
      const bool changed_too = put && before.put_program(changed, std::nullopt).has_value();
      const bool forgotten = changed_too && before.forget_programs({changed}).has_value();
      power.lose_power(unsynced);
      auto after = DurableRecords(power, kDurableRecords, "boot-2").read();
      ASSERT_TRUE(after.has_value());
      EXPECT_THAT(after->unread, IsEmpty());
      ASSERT_LE(after->programs.size(), 1u);
      if (put && !changed_too) {
        ASSERT_EQ(after->programs.size(), 1u) << writes;
      }
      for (const DurableProgram& program : after->programs)
        EXPECT_TRUE(program.record == one || program.record == changed) << writes;
      if (changed_too && !after->programs.empty()) {
        EXPECT_EQ(after->programs.front().record, changed) << writes;
      }
      if (forgotten) {
        EXPECT_THAT(after->programs, IsEmpty()) << writes;
      }
      all_done = forgotten;
    }
}

TEST_F(DurableRecordsTest, WhatCannotBeWrittenIsRefusedWithTheReason) {
  for (const auto& [refusal, reason] :
       {std::pair{ENOSPC, "ENOSPC (No space left on device)"}, std::pair{EROFS, "EROFS (Read-only file system)"}}) {
    disk.refuse(refusal);
    auto refused = records.put_program(record_of("c1", "eth0"), std::nullopt);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().to_string(),
              fmt::format("recording in /var/lib/railbed/records what must be undone even after a reboot: create "
                          "/var/lib/railbed/records/00000000000000000001.json: {}\n"
                          "  plugins are executed only after this is on disk: make /var/lib/railbed/records writable, "
                          "with free space",
                          reason));
    EXPECT_NE(refused.error().code, Code::kExhausted);  // no address or VF is meant
  }
  disk.refuse(0);
  EXPECT_TRUE(records.put_program(record_of("c1", "eth0"), std::nullopt).has_value());
}

// It may hold a token, and nothing would ever remove it.
TEST_F(DurableRecordsTest, WhatAKilledAgentHadBegunToWriteGoes) {
  ASSERT_TRUE(DurableRecords(disk, kDurableRecords, "boot-1").remove_unfinished().has_value()) << "no directory yet";
  ASSERT_TRUE(records.put_program(record_of("c1", "eth0"), std::nullopt).has_value());
  const std::string folder = kDurableRecords;
  ASSERT_TRUE(disk.create(folder + "/00000000000000000002.json.railbed-new", "{\"token\":", 0600).has_value());
  ASSERT_TRUE(disk.create(folder + "/somebody's", "", 0600).has_value());
  ASSERT_TRUE(records.remove_unfinished().has_value());
  EXPECT_THAT(*disk.list(folder), ElementsAre("00000000000000000001.json", "somebody's"));
  EXPECT_THAT(names(), testing::SizeIs(1));
}

TEST_F(DurableRecordsTest, AFileThatCannotBeReadIsReportedAndStays) {
  ASSERT_TRUE(records.put_program(record_of("c1", "eth0"), std::nullopt).has_value());
  const std::string directory = std::string(kDurableRecords) + "/";
  disk.put(directory + "00000000000000000003.json", "{");
  disk.put(directory + "00000000000000000004.json", R"({"minReader":2,"pod":"a","type":"exec:calico"})");
  disk.put(directory + "00000000000000000005.json", R"({"version":2,"minReader":1,"pod":"ns/p@c5",)"
                                                    R"("interface":"exec:eth0#0","type":"exec:calico","new":1})");
  disk.put(directory + "00000000000000000006.json", R"({"pod":"a","type":"macvlan"})");
  disk.put(directory + "00000000000000000007.json.railbed-new", R"({"po)");
  EXPECT_THAT(names(), ElementsAre("ns/p@c1 exec:eth0#0", "ns/p@c5 exec:eth0#0"));
  EXPECT_THAT(unread, ElementsAre(directory + "00000000000000000003.json: it is damaged",
                                  directory + "00000000000000000004.json: a newer railbed wrote it",
                                  directory + "00000000000000000006.json: it is damaged"));
  // No later record takes one of their names.
  DurableRecords later(disk, kDurableRecords, "boot-2");
  ASSERT_TRUE(later.put_program(record_of("c7", "eth0"), std::nullopt).has_value());
  EXPECT_TRUE(disk.files().contains(directory + "00000000000000000007.json"));
}

}  // namespace
}  // namespace railbed::agent
