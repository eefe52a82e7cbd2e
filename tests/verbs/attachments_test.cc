// SPDX-License-Identifier: Apache-2.0
// railbed attachments and gc as programs, with a state that the test wrote.
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/records/exec_records.h"
#include "attach/namespaces.h"
#include "attach/record.h"
#include "attach/result.h"
#include "cni/add_result.h"
#include "doc/json.h"
#include "os/ports/kernel.h"
#include "run_verb.h"
#include "state/store.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A namespace that has ended: no other one gets its identity, and so high a number is given to none.
const attach::NetnsRef kEnded{
    .path = "/nowhere/gone", .identity = os::NetnsIdentity{.number = UINT64_MAX}, .nsid = os::Nsid{INT32_MAX}};

class StateVerbs : public testing::Test {
 protected:
  StateVerbs() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-state-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "pending");
  }
  ~StateVerbs() override { std::filesystem::remove_all(folder_); }

  std::string state() const { return folder_ / "state"; }

  // Adds an interface on a VF that this machine does not have any more.
  void write_lost_vf() const {
    auto kernel = os::real_kernel();
    auto store = state::open_store({.directory = state(), .boot_id = kernel->boot_id(), .command = "test"});
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    const attach::Before before{.device = PciAddress::parse("ffff:ff:1f.7").value(),
                                .name = "eth9",
                                .netns = kEnded.identity,
                                .nsid = kEnded.nsid};
    ASSERT_TRUE((*store)->put_attachment({.pod = "ns/a@0123456789abcdef",
                                          .interface = "net1",
                                          .netns = "/nowhere/gone",
                                          .network = "ns/rail",
                                          .type = "sriov",
                                          .status = state::AttachmentStatus::kAttached,
                                          .device = "ffff:ff:1f.7",
                                          .resource = "",
                                          .undo = attach::undo_text({.interface = "net1"}, before),
                                          .result = ""}));
  }

  // One pod with an interface of railbed and one of an executed plugin, in a namespace that may be missing.
  void write_state(const std::string& netns, bool only_executed = false) const {
    auto kernel = os::real_kernel();
    auto store = state::open_store({.directory = state(), .boot_id = kernel->boot_id(), .command = "test"});
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    attach::InterfaceResult made{.interface = "net1",
                                 .network = "ns/rail",
                                 .type = "macvlan",
                                 .mac = "02:00:00:00:00:07",
                                 .mtu = 9000,
                                 .addresses = {*IpPrefix::parse("10.9.0.5/24")}};
    const state::Attachment ours{
        .pod = "ns/a@0123456789abcdef",
        .interface = "net1",
        .netns = netns,
        .network = "ns/rail",
        .type = "macvlan",
        .status = state::AttachmentStatus::kAttached,
        .device = "eth1",
        .resource = "",
        .undo = attach::undo_text(attach::InterfaceSpec{}, {.netns = kEnded.identity, .nsid = kEnded.nsid}),
        .result = attach::to_json(made)};
    if (!only_executed) {
      ASSERT_TRUE((*store)->put_attachment(ours));
    }
    state::Attachment program = agent::program_record("ns/a@0123456789abcdef", "cbr0", 0,
                                                      {.type = "bridge",
                                                       .container_id = "0123456789abcdef",
                                                       .netns = netns,
                                                       .ifname = "eth0",
                                                       .args = "",
                                                       .path = {},
                                                       .config = "{}"},
                                                      "1.0.0", kEnded);
    agent::conclude(program, {.addresses = {{*IpPrefix::parse("10.1.0.5/16"), {}, {}}}});
    ASSERT_TRUE((*store)->put_attachment(program));
    ASSERT_TRUE((*store)->put_note("network-status/ns/a@0123456789abcdef", R"([{"name":"cbr0"}])"));
  }

  os::RunResult run(const std::string& verb, std::vector<std::string> options) const {
    std::vector<std::string> arguments = {verb, "--state-dir", state()};
    if (verb == "gc")
      arguments.insert(arguments.end(), {"--pending-dir", folder_ / "pending", "--records", folder_ / "records"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_verb(arguments);
  }

  std::filesystem::path folder_;
};

TEST_F(StateVerbs, AttachmentsAreATable) {
  write_state("/run/netns/a");
  os::RunResult ran = run("attachments", {});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_EQ(ran.output,
            "POD   CONTAINER      INTERFACE  TYPE               NETWORK  DEVICE  ADDRESSES    STATUS\n"
            "ns/a  0123456789abc  net1       macvlan            ns/rail  eth1    10.9.0.5/24  attached\n"
            "ns/a  0123456789abc  eth0       bridge (executed)  cbr0     -       10.1.0.5/16  attached\n");
}

TEST_F(StateVerbs, AttachmentsAreOneJsonDocument) {
  write_state("/run/netns/a");
  os::RunResult ran = run("attachments", {"-o", "json"});
  EXPECT_EQ(ran.exit_status, 0);
  doc::Diagnostics unread;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"stdout", ran.output}), unread);
  ASSERT_TRUE(value.has_value()) << ran.output;
  EXPECT_EQ(doc::to_json(*value),
            R"({"apiVersion":"railbed.dev/v1","kind":"Attachments","sandboxes":[{"pod":"ns/a",)"
            R"("container":"0123456789abcdef","netns":"/run/netns/a","interfaces":[)"
            R"({"interface":"net1","type":"macvlan","network":"ns/rail","device":"eth1","addresses":["10.9.0.5/24"],)"
            R"("mac":"02:00:00:00:00:07","mtu":9000,"status":"attached"},)"
            R"({"interface":"eth0","type":"bridge","network":"cbr0","addresses":["10.1.0.5/16"],"status":"attached",)"
            R"("executed":true}],"networkStatus":[{"name":"cbr0"}]}]})");
}

TEST_F(StateVerbs, NothingIsAttachedWithoutAState) {
  EXPECT_EQ(run("attachments", {}).output, "nothing is attached\n");
  EXPECT_THAT(run("attachments", {"-o", "json"}).output, HasSubstr("\"sandboxes\": []"));
}

TEST_F(StateVerbs, GcShowsWhatLostItsNamespaceAndChangesNothing) {
  write_state("/nowhere/gone");
  std::ofstream(folder_ / "pending/1.del") << "{}";
  for (int i = 0; i < 2; ++i) {
    os::RunResult ran = run("gc", {});
    EXPECT_EQ(ran.exit_status, 0);
    EXPECT_THAT(ran.output, AllOf(HasSubstr("interface  net1 "), HasSubstr("program    exec:eth0#0"),
                                  HasSubstr("its namespace /nowhere/gone no longer exists"), HasSubstr("1.del"),
                                  HasSubstr("\nrailbed gc --yes removes them\n")));
  }
  os::RunResult json = run("gc", {"-o", "json"});
  EXPECT_THAT(json.output, AllOf(HasSubstr("\"kind\": \"Leftovers\""), HasSubstr("\"what\": \"net1\""),
                                 Not(HasSubstr("\"removed\": true"))));
}

TEST_F(StateVerbs, GcGivesUpADeviceThatIsGoneAtOnce) {
  write_lost_vf();
  os::RunResult ran = run("gc", {"--yes"});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_EQ(ran.output,
            "KIND       WHAT  POD                    WHY                                           RESULT\n"
            "interface  net1  ns/a@0123456789abcdef  its namespace /nowhere/gone no longer exists  removed; "
            "ffff:ff:1f.7 no longer exists on this machine: nothing to restore\n");
  EXPECT_EQ(run("gc", {}).output, "nothing is orphaned\n");
}

TEST_F(StateVerbs, EndWithStatus1WhereTheStateCannotBeRead) {
  std::filesystem::create_directories(state());
  std::ofstream(state() + "/state.db") << "no database at all, but long enough to be looked at";
  for (const char* verb : {"attachments", "gc"}) {
    os::RunResult ran = run(verb, {});
    EXPECT_EQ(ran.exit_status, 1) << verb;
    EXPECT_THAT(ran.output, IsEmpty());
    EXPECT_THAT(ran.errors, AllOf(HasSubstr("railbed: "), HasSubstr(state())));
    EXPECT_EQ(run(verb, {"--frob"}).exit_status, 1);
    EXPECT_EQ(run(verb, {"--help"}).exit_status, 0);
    EXPECT_EQ(run(verb, {"-o", "frob"}).exit_status, 1);
  }
}

// Where the state cannot be made, waiting for another railbed helps no one: /sys takes no folders, not even from root.
TEST_F(StateVerbs, GcSaysWhyTheStateCannotBeOpened) {
  const os::RunResult ran = run_verb({"gc", "--yes", "--state-dir", "/sys/railbed"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("mkdir /sys/railbed: "), Not(HasSubstr("--wait"))));
}

// As shells have it; a pod without a namespace of its own needs no root.
TEST_F(StateVerbs, ExecSaysByItsStatusWhetherThereIsSuchACommand) {
  {
    auto kernel = os::real_kernel();
    auto store = state::open_store({.directory = state(), .boot_id = kernel->boot_id(), .command = "test"});
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    ASSERT_TRUE((*store)->put_pod({.pod = "ns/a", .netns = "", .netns_name = ""}));
    ASSERT_TRUE((*store)->put_pod({.pod = "ns/gone", .netns = "/nowhere/gone", .netns_name = ""}));
  }
  std::ofstream(folder_ / "no-program") << "#!/bin/sh\n";
  const auto status = [&](const std::string& pod, std::vector<std::string> command) {
    command.insert(command.begin(), {"exec", "--state-dir", state(), pod, "--"});
    return run_verb(command).exit_status;
  };
  EXPECT_EQ(status("a", {"/bin/sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(status("a", {"/nowhere/missing"}), 127);
  EXPECT_EQ(status("a", {(folder_ / "no-program").string()}), 126);
  EXPECT_EQ(status("b", {"/bin/true"}), 1);
  EXPECT_EQ(status("gone", {"/bin/true"}), 1) << "the namespace is missing, not the command";
}

TEST_F(StateVerbs, GcSaysWhatItCouldNotRemove) {
  write_state("/nowhere/gone", true);
  os::RunResult ran = run("gc", {"--yes"});
  EXPECT_EQ(ran.exit_status, 1);  // no folder has a program `bridge`
  EXPECT_THAT(ran.output, HasSubstr("plugin bridge not found"));
}

}  // namespace
}  // namespace railbed
