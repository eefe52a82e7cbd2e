// SPDX-License-Identifier: Apache-2.0
// The machine boots, or loses power at any write to its disk: what only a DEL can give back is given back anyway.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/leftovers/in_use.h"
#include "agent/leftovers/leftovers.h"
#include "agent/leftovers/restore_records.h"
#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What plugins reserved outside of this machine: "calico c1 eth0".
using Outside = std::set<std::string>;

constexpr const char* kAddAnswer = R"({"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/run/netns/a"}],)"
                                   R"("ips":[{"address":"10.1.0.5/16","interface":0}]})";
constexpr const char* kAddresses = R"({"cniVersion":"1.0.0","ips":[{"address":"10.7.0.5/16"}]})";

// A machine from one boot to the next, with the disk of the one before.
struct Boot : RequestRig {
  Boot(const std::string& id, Outside& outside, const os::FakeDisk* before = nullptr) : RequestRig(id) {
    if (before != nullptr)
      for (const auto& [path, content] : before->files()) {
        EXPECT_TRUE(disk.make_directories(path.substr(0, path.rfind('/')), 0755).has_value());
        disk.put(path, content);
      }
    for (const char* type : {"calico", "portmap", "cluster-ipam"})
      kernel.put_program(std::string("/opt/cni/bin/") + type,
                         [this, &outside, type = std::string(type)](const os::RunRequest& request) {
                           return run(outside, type, request);
                         });
    pods.add_network("mv", R"({"cniVersion":"1.0.0","name":"mv","type":"macvlan","master":"eth1",)"
                           R"("ipam":{"type":"host-local","subnet":"10.9.0.0/24","dataDir":"/data"}})");
    pods.add_network("foreign", R"({"cniVersion":"1.0.0","name":"foreign","type":"macvlan","master":"eth1",)"
                                R"("ipam":{"type":"cluster-ipam"}})");
    pods.add_pod("mv, foreign");
  }

  Result<os::RunResult> run(Outside& outside, const std::string& type, const os::RunRequest& request) {
    if (disk.killed()) return fail(Code::kCanceled, "the process is dead");
    std::map<std::string, std::string> variables;
    for (const std::string& pair : request.environment)
      variables[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    const std::string what = fmt::format("{} {} {}", type, variables["CNI_CONTAINERID"], variables["CNI_IFNAME"]);
    runs.push_back(fmt::format("{} {} in {}", variables["CNI_COMMAND"], what, variables["CNI_NETNS"]));
    inputs.push_back(request.input);
    if (variables["CNI_COMMAND"] == "ADD") outside.insert(what);
    if (variables["CNI_COMMAND"] == "DEL") outside.erase(what);
    return os::RunResult{.output = variables["CNI_COMMAND"] != "ADD" ? ""
                                   : type == "cluster-ipam"          ? kAddresses
                                                                     : kAddAnswer};
  }

  Result<std::string> ask(cni::Command command, const std::string& netns, const std::string& valid = "",
                          const std::string& container = "c1") {
    cni::Request request{.command = command,
                         .type = "railbed",
                         .container_id = container,
                         .netns = netns,
                         .ifname = "eth0",
                         .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", "a"}},
                         .args_text = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a",
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed","delegates":[{)"
                                   R"("cniVersion":"1.0.0","name":"cluster","plugins":[{"type":"calico","token":"S"},)"
                                   R"({"type":"portmap"}]}])" +
                                   valid + "}"};
    auto config = cni::read_plugin_config(request.config);
    if (!config.has_value()) return std::unexpected(config.error());
    return meta_request(backends, meta, request, *config);
  }
  Result<std::string> add() {
    EXPECT_TRUE(kernel.netns().create("a"));
    return ask(cni::Command::kAdd, "/run/netns/a");
  }

  // As at the agent's start.
  RestoredRecords start() {
    Engine::Turn turn = std::move(*engine.turn(std::chrono::milliseconds(0)));
    auto restored = restore_records(turn.store(), durable);
    EXPECT_TRUE(restored.has_value());
    EXPECT_TRUE(host_local.recover(turn).has_value());
    return restored.value_or(RestoredRecords{});
  }
  std::vector<std::string> left() {
    std::vector<std::string> all;
    auto found = find_leftovers(kernel, store.get(), disk, kPendingFolder, durable);
    for (const Leftover& one : *found) all.push_back(fmt::format("{} {} {}", kind_name(one.kind), one.pod, one.what));
    return all;
  }
  // Records of programs and addresses of containers.
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto& [path, content] : disk.files()) {
      const bool record = path.starts_with(kDurableRecords) && content.find("hostLocal") == std::string::npos &&
                          path.ends_with(".json");
      if (record || content.find("\r\n") != std::string::npos) all.push_back(path);
    }
    return all;
  }
};

class RebootTest : public testing::Test {
 protected:
  Outside outside;
};

TEST_F(RebootTest, DelCallsWhatItWouldHaveCalledBefore) {
  std::vector<std::string> normally;
  std::vector<std::string> inputs;
  {
    Boot boot("boot-1", outside);
    ASSERT_TRUE(boot.add().has_value());
    boot.runs.clear();
    boot.inputs.clear();
    ASSERT_TRUE(boot.ask(cni::Command::kDel, "").has_value());
    normally = boot.runs;
    inputs = boot.inputs;
    EXPECT_THAT(outside, IsEmpty());
    EXPECT_THAT(boot.files(), IsEmpty());
  }
  Boot first("boot-1", outside);
  auto added = first.add();
  ASSERT_TRUE(added.has_value()) << added.error().story();
  ASSERT_EQ(outside.size(), 3u);
  Boot second("boot-2", outside, &first.disk);
  EXPECT_EQ(second.start().of_earlier_boots, 3);
  EXPECT_EQ(second.files().size(), 4u);
  // Nothing is executed before the runtime asks: plugins may need what starts only later.
  auto recovered = second.meta.recover(second.engine);
  ASSERT_TRUE(recovered.has_value());
  EXPECT_THAT(second.runs, IsEmpty());
  // Another pod's namespace may have the old path by now.
  ASSERT_TRUE(second.kernel.netns().create("a"));
  auto gone = second.ask(cni::Command::kDel, "");
  ASSERT_TRUE(gone.has_value()) << gone.error().story();
  for (std::string& line : normally) line = line.substr(0, line.find(" in ")) + " in ";
  EXPECT_EQ(second.runs, normally);
  EXPECT_EQ(second.inputs, inputs);
  for (const std::string& input : second.inputs) EXPECT_THAT(input, HasSubstr("prevResult"));
  EXPECT_THAT(outside, IsEmpty());
  EXPECT_THAT(second.files(), IsEmpty());
  EXPECT_THAT(second.left(), IsEmpty());
  EXPECT_THAT(second.interfaces(), IsEmpty());
  EXPECT_TRUE(second.store->notes("meta/")->empty());
}

TEST_F(RebootTest, HostLocalsFilesGoWithTheDelEvenWithoutPrograms) {
  Boot first("boot-1", outside);
  first.pods.add_pod("mv");
  ASSERT_TRUE(first.kernel.netns().create("a"));
  cni::Request request{.command = cni::Command::kAdd,
                       .type = "railbed",
                       .container_id = "c1",
                       .netns = "/run/netns/a",
                       .ifname = "eth0",
                       .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", "a"}},
                       .args_text = "",
                       .path = {"/opt/cni/bin"},
                       .config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed","delegates":[{)"
                                 R"("cniVersion":"1.0.0","name":"own","type":"macvlan","master":"eth1",)"
                                 R"("ipam":{"type":"host-local","subnet":"10.8.0.0/24"}}]})"};
  ASSERT_TRUE(meta_request(first.backends, first.meta, request, *cni::read_plugin_config(request.config)).has_value());
  EXPECT_THAT(first.files(), ElementsAre("/data/mv/10.9.0.2", "/var/lib/cni/networks/own/10.8.0.2"));
  const int syncs = first.disk.syncs();
  request.container_id = "c2";
  ASSERT_TRUE(first.kernel.netns().create("b"));
  request.netns = "/run/netns/b";
  auto added = meta_request(first.backends, first.meta, request, *cni::read_plugin_config(request.config));
  ASSERT_TRUE(added.has_value()) << added.error().story();
  EXPECT_EQ(first.disk.syncs(), syncs) << "an ADD without programs waited for the disk";

  Boot second("boot-2", outside, &first.disk);
  second.start();
  request.command = cni::Command::kDel;
  request.container_id = "c1";
  request.netns = "";
  ASSERT_TRUE(
      meta_request(second.backends, second.meta, request, *cni::read_plugin_config(request.config)).has_value());
  EXPECT_THAT(second.files(), ElementsAre("/data/mv/10.9.0.3", "/var/lib/cni/networks/own/10.8.0.3"));
}

TEST_F(RebootTest, GcGivesUpWhatTheRuntimeNoLongerHas) {
  Boot first("boot-1", outside);
  ASSERT_TRUE(first.add().has_value());
  {
    Boot second("boot-2", outside, &first.disk);
    second.start();
    auto kept =
        second.ask(cni::Command::kGc, "", R"(,"cni.dev/valid-attachments":[{"containerID":"c1","ifname":"eth0"}])");
    ASSERT_TRUE(kept.has_value()) << kept.error().story();
    EXPECT_EQ(outside.size(), 3u);
    auto gone = second.ask(cni::Command::kGc, "", R"(,"cni.dev/valid-attachments":[])");
    ASSERT_TRUE(gone.has_value()) << gone.error().story();
    EXPECT_THAT(outside, IsEmpty());
    EXPECT_THAT(second.durable.read()->programs, IsEmpty());
  }
}

TEST_F(RebootTest, TheGcVerbGivesUpWhatNoOneKnows) {
  Boot first("boot-1", outside);
  ASSERT_TRUE(first.add().has_value());
  Boot second("boot-2", outside, &first.disk);
  const std::vector<std::string> programs = {"program ns/a@c1 exec:eth0#0", "program ns/a@c1 exec:eth0#1",
                                             "program ns/a@c1 exec:net2#ipam"};
  EXPECT_EQ(second.left(), programs);  // before an agent was started
  second.start();
  EXPECT_THAT(second.left(), testing::IsSupersetOf(programs));
  ASSERT_TRUE(second.disk.make_directories("/var/lib/cni/results", 0700).has_value());
  second.disk.put("/var/lib/cni/results/cluster-c1-eth0", "{}");
  EXPECT_THAT(second.left(), IsEmpty());
  ASSERT_TRUE(second.disk.remove("/var/lib/cni/results/cluster-c1-eth0").has_value());
  auto found = find_leftovers(second.kernel, second.store.get(), second.disk, kPendingFolder, second.durable);
  ASSERT_TRUE(remove_leftovers(second.kernel, *second.store, second.disk, second.durable, *found).has_value());
  EXPECT_THAT(outside, IsEmpty());
  EXPECT_THAT(second.durable.read()->programs, IsEmpty());
  EXPECT_THAT(second.interfaces(), IsEmpty());
  EXPECT_TRUE(second.store->notes("meta/")->empty());
}

TEST_F(RebootTest, APluginsOwnGcAndDelKnowItsExecutedIpam) {
  for (cni::Command command : {cni::Command::kDel, cni::Command::kGc}) {
    const auto request = [&](cni::Command asked, const std::string& netns) {
      return cni::Request{.command = asked,
                          .type = "macvlan",
                          .container_id = asked == cni::Command::kGc ? "" : "c1",
                          .netns = netns,
                          .ifname = "net1",
                          .path = {"/opt/cni/bin"},
                          .config = R"({"cniVersion":"1.1.0","name":"n","type":"macvlan","master":"eth1",)"
                                    R"("ipam":{"type":"cluster-ipam"},"cni.dev/valid-attachments":[]})"};
    };
    const auto ask = [](Boot& boot, const cni::Request& asked) {
      return plugin_request(boot.backends, asked, *cni::read_plugin_config(asked.config));
    };
    Boot first("boot-1", outside);
    ASSERT_TRUE(first.kernel.netns().create("a"));
    auto added = ask(first, request(cni::Command::kAdd, "/run/netns/a"));
    ASSERT_TRUE(added.has_value()) << added.error().story();
    Boot second("boot-2", outside, &first.disk);
    EXPECT_EQ(second.start().of_earlier_boots, 1);
    auto gone = ask(second, request(command, ""));
    ASSERT_TRUE(gone.has_value()) << gone.error().story();
    EXPECT_THAT(outside, IsEmpty());
    EXPECT_EQ(std::ranges::count(second.runs, "DEL cluster-ipam c1 net1 in "), 1);
    EXPECT_THAT(second.files(), IsEmpty());
  }
}

// The power fails before each write to the disk of an ADD. The runtime sends DEL for it after the boot.
TEST_F(RebootTest, APowerFailureDuringAddLeaksNothing) {
  bool all_done = false;
  for (int writes = 0; !all_done; ++writes)
    for (auto unsynced : {os::FakeDisk::Unsynced::kLost, os::FakeDisk::Unsynced::kKept}) {
      outside.clear();
      Boot first("boot-1", outside);
      first.disk.kill_after(writes, [&] { first.kernel.kill_after(0); });
      all_done = first.add().has_value();
      first.disk.lose_power(unsynced);
      Boot second("boot-2", outside, &first.disk);
      second.start();
      auto gone = second.ask(cni::Command::kDel, "");
      ASSERT_TRUE(gone.has_value()) << writes << ": " << gone.error().story();
      EXPECT_THAT(outside, IsEmpty()) << writes;
      EXPECT_THAT(second.files(), IsEmpty()) << writes;
      EXPECT_THAT(second.left(), IsEmpty()) << writes;
      auto added = second.add();
      ASSERT_TRUE(added.has_value()) << writes << ": " << added.error().story();
      EXPECT_EQ(outside.size(), 3u);
    }
}

// The same for a DEL. One that was answered is not repeated.
TEST_F(RebootTest, APowerFailureDuringDelLeaksNothing) {
  bool answered = false;
  for (int writes = 0; !answered; ++writes)
    for (auto unsynced : {os::FakeDisk::Unsynced::kLost, os::FakeDisk::Unsynced::kKept}) {
      outside.clear();
      Boot first("boot-1", outside);
      ASSERT_TRUE(first.add().has_value());
      first.disk.kill_after(writes, [&] { first.kernel.kill_after(0); });
      answered = first.ask(cni::Command::kDel, "/run/netns/a").has_value();
      first.disk.lose_power(unsynced);
      Boot second("boot-2", outside, &first.disk);
      second.start();
      if (!answered) {
        auto gone = second.ask(cni::Command::kDel, "");
        ASSERT_TRUE(gone.has_value()) << writes << ": " << gone.error().story();
        EXPECT_THAT(second.files(), IsEmpty()) << writes;
      }
      EXPECT_THAT(outside, IsEmpty()) << writes;
      EXPECT_THAT(second.durable.read()->programs, IsEmpty()) << writes;
    }
}

TEST_F(RebootTest, NoPluginIsExecutedThatCouldNotBeUndoneAfterAReboot) {
  Boot boot("boot-1", outside);
  boot.disk.refuse(ENOSPC);
  auto refused = boot.add();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(cni::code_of(refused.error()), 5);
  EXPECT_THAT(refused.error().story(), HasSubstr("recording in /var/lib/railbed/records what must be undone even after "
                                                 "a reboot: create "));
  EXPECT_THAT(boot.runs, IsEmpty());
  boot.disk.refuse(0);
  EXPECT_THAT(boot.left(), IsEmpty());
  EXPECT_TRUE(boot.ask(cni::Command::kDel, "/run/netns/a").has_value());
}

// The disk fills up while the first plugin runs: its result cannot be kept, so its ADD is undone.
TEST_F(RebootTest, AnAddWhoseResultCannotBeKeptIsUndone) {
  Boot boot("boot-1", outside);
  boot.kernel.put_program("/opt/cni/bin/portmap", [&](const os::RunRequest& request) {
    boot.disk.refuse(ENOSPC);
    return boot.run(outside, "portmap", request);
  });
  auto refused = boot.add();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(cni::code_of(refused.error()), 5);
  EXPECT_EQ(cni::hint_of(refused.error()),
            "plugins are executed only after this is on disk: make /var/lib/railbed/records writable, with free space");
  EXPECT_THAT(outside, IsEmpty());
  EXPECT_THAT(boot.files(), IsEmpty());
  EXPECT_THAT(boot.interfaces(), IsEmpty());
}

// The state was lost, the namespaces are still there.
TEST_F(RebootTest, InTheSameBootTheProgramsKeepTheirNamespaces) {
  Boot boot("boot-1", outside);
  ASSERT_TRUE(boot.add().has_value());
  auto records = boot.store->attachments();
  for (const state::Attachment& one : *records)
    ASSERT_TRUE(boot.store->forget_attachment(one.pod, one.interface).has_value());
  ASSERT_TRUE(boot.store->forget_note("meta/ns/a@c1").has_value());
  EXPECT_EQ(boot.start().of_this_boot, 3);
  InUse in_use(boot.engine, boot.disk, boot.pods);
  ASSERT_EQ(*in_use.start(), false);
  const auto while_looking = find_leftovers(boot.kernel, boot.store.get(), boot.disk, kPendingFolder, boot.durable);
  for (const Leftover& one : *while_looking) EXPECT_FALSE(one.removable) << kind_name(one.kind) << " " << one.what;
  ASSERT_TRUE(in_use.look().has_value());
  boot.runs.clear();
  auto recovered = boot.meta.recover(boot.engine);
  ASSERT_TRUE(recovered.has_value());
  EXPECT_THAT(boot.runs, IsEmpty());
  auto found = find_leftovers(boot.kernel, boot.store.get(), boot.disk, kPendingFolder, boot.durable);
  for (const Leftover& one : *found) EXPECT_FALSE(one.removable) << kind_name(one.kind) << " " << one.what;
  ASSERT_TRUE(boot.ask(cni::Command::kDel, "/run/netns/a").has_value());
  EXPECT_THAT(outside, IsEmpty());
  EXPECT_THAT(boot.runs, ElementsAre("DEL cluster-ipam c1 net2 in /run/netns/a", "DEL portmap c1 eth0 in /run/netns/a",
                                     "DEL calico c1 eth0 in /run/netns/a"));
}

// The programs make the container known; what host-local gave its other networks has no record any more.
TEST_F(RebootTest, InTheSameBootADelWithoutTheStateGivesBackHostLocalsFiles) {
  Boot first("boot-1", outside);
  ASSERT_TRUE(first.add().has_value());
  Boot second("boot-1", outside, &first.disk);
  ASSERT_TRUE(second.kernel.netns().create("a"));
  EXPECT_EQ(second.start().of_this_boot, 3);
  EXPECT_EQ(second.files().size(), 4u);
  ASSERT_TRUE(second.ask(cni::Command::kDel, "/run/netns/a").has_value());
  EXPECT_THAT(outside, IsEmpty());
  EXPECT_THAT(second.files(), IsEmpty());
}

// A railbed before this one kept its records in the state alone.
TEST_F(RebootTest, RecordsThatOnlyTheStateHasArePutOnDisk) {
  Boot boot("boot-1", outside);
  ASSERT_TRUE(boot.add().has_value());
  auto programs = boot.durable.read()->programs;
  for (const auto& [path, content] : boot.disk.files())
    if (path.starts_with(kDurableRecords)) {
      ASSERT_TRUE(boot.disk.remove(path).has_value());
    }
  Boot next("boot-1", outside);
  auto records = boot.store->attachments();
  for (const state::Attachment& one : *records) ASSERT_TRUE(next.store->put_attachment(one).has_value());
  ASSERT_TRUE(next.store->put_note("meta/ns/a@c1", **boot.store->note("meta/ns/a@c1")).has_value());
  next.start();
  EXPECT_THAT(next.durable.read()->programs, testing::UnorderedElementsAreArray(programs));
}

}  // namespace
}  // namespace railbed::agent
