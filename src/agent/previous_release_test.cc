// SPDX-License-Identifier: Apache-2.0
// What the previous release (tools/previous-release) has written is read, and released by DEL. Its programs beside
// these: tests/cni/run upgrade.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/leftovers/leftovers.h"
#include "agent/leftovers/restore_records.h"
#include "agent/pod/exec_records.h"
#include "agent/pod/meta.h"
#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "attach/record.h"
#include "base/testdata.h"
#include "state/sqlite.h"

namespace railbed::agent {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PreviousRelease : public RequestTest {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / fmt::format("railbed-previous.{}", getpid());
    std::filesystem::create_directories(directory_);
    const std::string sql = content(testdata() / "state/previous/state.sql");
    ASSERT_FALSE(sql.empty());
    {
      auto file = state::Database::open(directory_ / "state.db", false);
      ASSERT_TRUE(file.has_value());
      ASSERT_TRUE((*file)->script(sql.c_str()).has_value());
    }
    auto opened = state::open_store({.directory = directory_, .boot_id = "boot-1"});
    ASSERT_TRUE(opened.has_value()) << opened.error().story();
    take_in(**opened);
    for (const auto& entry : std::filesystem::directory_iterator(testdata() / "state/previous/records"))
      disk.put(fmt::format("{}/{}", kDurableRecords, entry.path().filename().string()), content(entry.path()));
    install("bridge", "");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // The rig's store is in memory.
  void take_in(state::Store& from) {
    const auto records = from.attachments();
    const auto leases = from.all_leases();
    const auto their_pods = from.pods();
    ASSERT_TRUE(records.has_value() && leases.has_value() && their_pods.has_value());
    for (const state::PodRecord& one : *their_pods) ASSERT_TRUE(store->put_pod(one));
    for (const state::Attachment& one : *records) ASSERT_TRUE(store->put_attachment(one));
    for (const state::AddressLease& one : *leases) ASSERT_TRUE(store->put_lease(one));
    for (const char* kind : {"host-local ", "in use", "ipam request ", "meta/"}) {
      const auto notes = from.notes(kind);
      ASSERT_TRUE(notes.has_value() && !notes->empty()) << kind;
      for (const auto& [key, value] : *notes) ASSERT_TRUE(store->put_note(key, value));
    }
  }

  std::string del(const std::string& pod, const std::string& type) {
    cni::Request request{
        .command = cni::Command::kDel,
        .type = type,
        .container_id = pod,
        .netns = "/run/netns/" + pod,
        .ifname = type == "railbed" ? "eth0" : "net1",
        .args = {{"K8S_POD_NAMESPACE", "default"}, {"K8S_POD_NAME", pod}},
        .args_text = "K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + pod,
        .path = {"/opt/cni/bin"},
        .config = fmt::format(R"({{"cniVersion":"1.0.0","name":"up","type":"{}","master":"p0"}})", type)};
    auto config = cni::read_plugin_config(request.config);
    auto gone =
        type == "railbed" ? meta_request(backends, request, *config) : plugin_request(backends, request, *config);
    return gone.has_value() ? "gone" : gone.error().message;
  }

  std::filesystem::path directory_;
};

TEST_F(PreviousRelease, IsReadAndReleased) {
  const auto records = store->attachments();
  ASSERT_EQ(records->size(), 8U);
  int programs = 0;
  for (const state::Attachment& record : *records) {
    if (!is_of_program(record)) {
      EXPECT_TRUE(attach::netns_ref_of(record).identity.has_value()) << record.undo;
      continue;
    }
    ++programs;
    EXPECT_TRUE(execution_of(record, cni::Command::kDel).has_value());
    const auto result = result_of_program(record);
    EXPECT_TRUE(result.has_value() && result->has_value());
  }
  EXPECT_EQ(programs, 2);
  EXPECT_THAT(restore_records(*store, durable)->warnings, testing::IsEmpty());
  {
    Engine::Turn turn = std::move(*engine.turn(kTurnWait));
    ASSERT_TRUE(turn.read_addresses().has_value());
    EXPECT_THAT(*host_local.recover(turn), testing::IsEmpty());
  }
  EXPECT_EQ(disk.files().size(), 2U + 8U + 4U);  // records, addresses, locks of networks

  for (const char* kind : {"direct", "device", "meta"})
    for (const char* one : {"goes", "stays"}) {
      const std::string type = kind == std::string("direct")   ? "macvlan"
                               : kind == std::string("device") ? "host-device"
                                                               : "railbed";
      EXPECT_EQ(del(fmt::format("up0-{}-{}", kind, one), type), "gone") << kind << " " << one;
    }
  EXPECT_THAT(runs, testing::ElementsAre("bridge DEL", "bridge DEL"));
  // These records have no nsid, and nothing shows that the namespaces have ended: devices and addresses stay reserved.
  const auto left = store->attachments();
  EXPECT_EQ(left->size(), 6U);
  for (const state::Attachment& record : *left) EXPECT_TRUE(attach::is_orphan(record)) << record.undo;
}

}  // namespace
}  // namespace railbed::agent
