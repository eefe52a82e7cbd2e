// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/host_local.h"

#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/addresses/address_notes.h"
#include "node/testing_store.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

const std::string kDir = "/var/lib/cni/networks/mynet";

api::IpamConfig config_with(std::vector<const char*> subnets) {
  api::IpamConfig config;
  config.type = api::IpamType::kHostLocal;
  for (const char* text : subnets) {
    IpPrefix subnet = *IpPrefix::parse(text);
    config.range_sets.push_back({{.subnet = subnet, .addresses = {subnet.network(), subnet.last()}}});
  }
  return config;
}

// Both steps, for one interface.
Result<std::vector<ipam::Assigned>> allocate(HostLocal& host_local, Engine::Turn& turn, const ipam::AddressClaim& claim,
                                             const std::string& data_dir = "") {
  HostLocal::Locks locks;
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  HostLocal::Reservation reservation = TRY(host_local.begin(turn, locks, data_dir, claim));
  TRY(transaction.commit());
  return host_local.finish(turn, reservation);
}

// An agent that can be restarted on the state that the last one left.
struct HostLocalRig {
  HostLocalRig() { restart(); }
  void restart() {
    disk.restart();
    mortal.restart();
    host_local = std::make_unique<HostLocal>(disk);
    engine = std::make_unique<Engine>(*kernel, mortal, *blocks, records);
  }
  Engine::Turn turn() { return std::move(*engine->turn(milliseconds(0))); }

  std::string allocate(const ipam::Owner& owner, const api::IpamConfig& config,
                       const std::vector<std::string>& requested = {}) {
    Engine::Turn now = turn();
    auto given = agent::allocate(*host_local, now, {owner, "mynet", config, requested});
    if (!given.has_value()) return given.error().to_string();
    std::string text;
    for (const ipam::Assigned& one : *given) text += (text.empty() ? "" : " ") + one.address.to_string();
    return text;
  }
  Result<void> release(const ipam::Owner& owner) {
    Engine::Turn now = turn();
    return host_local->release(now, {owner});
  }
  // What went wrong.
  std::vector<std::string> recover() {
    Engine::Turn now = turn();
    auto problems = host_local->recover(now);
    return problems.has_value() ? *problems : std::vector{problems.error().to_string()};
  }

  os::FakeDisk disk;
  std::unique_ptr<os::FakeKernel> kernel = std::make_unique<os::FakeKernel>();
  std::unique_ptr<state::Store> store = state::memory_store();
  node::MortalStore mortal{*store, [this] { return disk.killed(); }};
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  DurableRecords records{disk, kDurableRecords, kernel->boot_id()};
  std::unique_ptr<HostLocal> host_local;
  std::unique_ptr<Engine> engine;
};

using Files = std::map<std::string, std::string>;

TEST(HostLocal, WritesWhatTheOriginalWrites) {
  HostLocalRig rig;
  api::IpamConfig config = config_with({"10.0.0.0/29", "fd00::/64"});
  EXPECT_EQ(rig.allocate({"default/a@c1", "net1"}, config), "10.0.0.1/29 fd00::1/64");
  EXPECT_EQ(rig.disk.files(), (Files{{kDir + "/10.0.0.1", "c1\r\nnet1"},
                                     {kDir + "/fd00::1", "c1\r\nnet1"},
                                     {kDir + "/last_reserved_ip.0", "10.0.0.1"},
                                     {kDir + "/last_reserved_ip.1", "fd00::1"},
                                     {kDir + "/lock", ""}}));
  // A second call for the same interface gives the same addresses; another interface gets the next ones.
  EXPECT_EQ(rig.allocate({"default/a@c1", "net1"}, config), "10.0.0.1/29 fd00::1/64");
  EXPECT_EQ(rig.allocate({"default/a@c1", "net2"}, config), "10.0.0.2/29 fd00::2/64");
  EXPECT_EQ(rig.disk.files().at(kDir + "/10.0.0.2"), "c1\r\nnet2");
  ASSERT_TRUE(rig.release({"default/a@c1", "net1"}).has_value());
  ASSERT_TRUE(rig.release({"default/a@c1", "net1"}).has_value());
  EXPECT_FALSE(rig.disk.files().contains(kDir + "/10.0.0.1"));
  EXPECT_FALSE(rig.disk.files().contains(kDir + "/fd00::1"));
  EXPECT_EQ(rig.store->all_leases()->size(), 2u);
  EXPECT_EQ(rig.store->notes(kFileNotes)->size(), 2u);
}

TEST(HostLocal, WhatTheOriginalGaveIsTaken) {
  HostLocalRig rig;
  ASSERT_TRUE(rig.disk.make_directories(kDir, 0755).has_value());
  rig.disk.put(kDir + "/10.0.0.1", "old\r\neth0");
  rig.disk.put(kDir + "/10.0.0.2", "older\n");  // written by a version without interfaces
  api::IpamConfig config = config_with({"10.0.0.0/29"});
  EXPECT_EQ(rig.allocate({"default/a@c1", "net1"}, config), "10.0.0.3/29");
  EXPECT_EQ(rig.allocate({"default/b@c2", "net1"}, config, {"10.0.0.1"}),
            "network mynet: the requested address 10.0.0.1 belongs to pod of container old, interface eth0");
  // The original plugin adds one file and removes another while the agent runs; only the directory's time shows it.
  rig.disk.put(kDir + "/10.0.0.4", "new\r\neth0");
  ASSERT_TRUE(rig.disk.remove(kDir + "/10.0.0.1").has_value());
  EXPECT_EQ(rig.allocate({"default/b@c2", "net1"}, config), "10.0.0.1/29");
  EXPECT_EQ(rig.allocate({"default/c@c3", "net1"}, config), "10.0.0.5/29");
  // The address that the original gave to this very interface before the switch stays with it.
  EXPECT_EQ(rig.allocate({"default/d@new", "eth0"}, config), "10.0.0.4/29");
  EXPECT_EQ(rig.store->leases_of("default/d@new")->size(), 1u);

  Engine::Turn turn = rig.turn();
  ASSERT_TRUE(rig.host_local->release_foreign(turn, "", "mynet", "older", "eth7").has_value());
  EXPECT_FALSE(rig.disk.files().contains(kDir + "/10.0.0.2"));
  // A file of ours is not removed as a foreign one.
  ASSERT_TRUE(rig.host_local->release_foreign(turn, "", "mynet", "c1", "net1").has_value());
  EXPECT_TRUE(rig.disk.files().contains(kDir + "/10.0.0.3"));
  ASSERT_TRUE(rig.host_local->release_foreign(turn, "", "nothere", "c1", "net1").has_value());
}

TEST(HostLocal, ReadsTheDirectoryOnlyWhenSomethingChanged) {
  HostLocalRig rig;
  api::IpamConfig config = config_with({"10.0.0.0/16"});
  for (int i = 0; i < 20; ++i) {
    rig.allocate({fmt::format("default/p{}@c{}", i, i), "net1"}, config);
    if (i % 3 == 0) {
      ASSERT_TRUE(rig.release({fmt::format("default/p{}@c{}", i, i), "net1"}).has_value());
    }
  }
  EXPECT_EQ(rig.disk.lists(), 1);
  rig.disk.put(kDir + "/10.0.9.9", "old\r\neth0");
  rig.allocate({"default/x@x", "net1"}, config);
  EXPECT_EQ(rig.disk.lists(), 2);
  // Reading the leases again from the state does not free the addresses of other plugins.
  rig.engine = std::make_unique<Engine>(*rig.kernel, rig.mortal, *rig.blocks, rig.records);
  EXPECT_EQ(rig.allocate({"default/y@y", "net1"}, config, {"10.0.9.9"}).substr(0, 57),
            "network mynet: the requested address 10.0.9.9 belongs to ");
}

// A plugin that ignores the lock: the existence of the file decides.
class Rival : public os::FakeDisk {
 public:
  Result<void> create(const std::string& path, std::string_view content, unsigned mode) override {
    if (rivals_ > 0 && path.find("/10.") != std::string::npos) {
      --rivals_;
      put(path, "rival\r\neth0");
    }
    return FakeDisk::create(path, content, mode);
  }
  int rivals_ = 2;
};

TEST(HostLocal, AFileThatAppearsMeanwhileIsRespected) {
  Rival disk;
  os::FakeKernel kernel;
  auto store = state::memory_store();
  auto blocks = ipam::whole_ranges();
  DurableRecords records(disk, kDurableRecords, kernel.boot_id());
  Engine engine(kernel, *store, *blocks, records);
  HostLocal host_local(disk);
  Engine::Turn turn = std::move(*engine.turn(milliseconds(0)));
  auto given = allocate(host_local, turn, {{"default/a@c1", "net1"}, "mynet", config_with({"10.0.0.0/29"}), {}});
  ASSERT_TRUE(given.has_value()) << given.error().to_string();
  EXPECT_EQ(given->front().address.to_string(), "10.0.0.3/29");
  EXPECT_EQ(store->all_leases()->size(), 1u);
  disk.rivals_ = 100;
  auto none = allocate(host_local, turn, {{"default/b@c2", "net1"}, "mynet", config_with({"10.1.0.0/24"}), {}});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::kBusy);
  EXPECT_EQ(store->all_leases()->size(), 1u);
}

// The original released it and gave it to the next container between two looks.
TEST(HostLocal, AFileThatChangesHandsIsTheNewOnes) {
  HostLocalRig rig;
  ASSERT_TRUE(rig.disk.make_directories(kDir, 0755).has_value());
  rig.disk.put(kDir + "/10.0.0.1", "old\r\neth0");
  const api::IpamConfig config = config_with({"10.0.0.0/29"});
  ASSERT_EQ(rig.allocate({"default/a@c1", "net1"}, config), "10.0.0.2/29");
  rig.disk.put(kDir + "/10.0.0.1", "new\r\neth0");
  ASSERT_EQ(rig.allocate({"default/b@c2", "net1"}, config), "10.0.0.3/29");
  {
    Engine::Turn turn = rig.turn();
    ASSERT_TRUE(rig.host_local->release_foreign(turn, "", "mynet", "old", "eth0").has_value());
    EXPECT_TRUE(rig.disk.files().contains(kDir + "/10.0.0.1")) << "it is not of `old` any more";
    ASSERT_TRUE(rig.host_local->release_foreign(turn, "", "mynet", "new", "eth0").has_value());
    EXPECT_FALSE(rig.disk.files().contains(kDir + "/10.0.0.1"));
  }
  for (const char* next : {"10.0.0.1/29", "10.0.0.4/29", "10.0.0.5/29", "10.0.0.6/29"})
    EXPECT_EQ(rig.allocate({fmt::format("default/c@{}", next), "net1"}, config), next);
}

// A state that was rolled back has the lease of a pod that went, and the file is of the one that came afterwards.
TEST(HostLocal, AFileIsReleasedBesideAnOldLease) {
  HostLocalRig rig;
  const api::IpamConfig config = config_with({"10.0.0.0/29"});
  ASSERT_EQ(rig.allocate({"default/a@c1", "net1"}, config), "10.0.0.1/29");
  rig.disk.put(kDir + "/10.0.0.1", "c2\r\nnet1");
  {
    Engine::Turn turn = rig.turn();
    ASSERT_TRUE(rig.host_local->release_container(turn, "c1").has_value());
    EXPECT_TRUE(rig.disk.files().contains(kDir + "/10.0.0.1")) << "it is not of c1";
    ASSERT_TRUE(rig.host_local->release_container(turn, "c2").has_value());
    EXPECT_FALSE(rig.disk.files().contains(kDir + "/10.0.0.1"));
  }
  EXPECT_EQ(rig.allocate({"default/b@c3", "net1"}, config), "10.0.0.2/29") << "the lease is still there";
  {
    Engine::Turn turn = rig.turn();
    ASSERT_TRUE(rig.host_local->release(turn, {{"default/a@c1", "net1"}}).has_value());
  }
  for (const char* next : {"10.0.0.1/29", "10.0.0.3/29"})
    EXPECT_EQ(rig.allocate({fmt::format("default/c@{}", next), "net1"}, config), next);
}

TEST(HostLocal, RefusesPathsThatLeadElsewhere) {
  HostLocalRig rig;
  Engine::Turn turn = rig.turn();
  api::IpamConfig config = config_with({"10.0.0.0/29"});
  for (const char* network : {"../etc", "a/b", "", "."})
    EXPECT_FALSE(allocate(*rig.host_local, turn, {{"a@b", "net1"}, network, config, {}}).has_value()) << network;
  for (const char* directory : {"relative", "/var/../etc", "/a/.."})
    EXPECT_FALSE(allocate(*rig.host_local, turn, {{"a@b", "net1"}, "n", config, {}}, directory).has_value())
        << directory;
  EXPECT_TRUE(rig.disk.files().empty());
  ASSERT_TRUE(allocate(*rig.host_local, turn, {{"a@b", "net1"}, "n", config, {}}, "/data//").has_value());
  EXPECT_TRUE(rig.disk.files().contains("/data/n/10.0.0.1"));
}

TEST(HostLocal, AFullRangeAndAHeldLockLeaveNothing) {
  HostLocalRig rig;
  api::IpamConfig config = config_with({"fd00::/64", "10.0.0.0/30"});
  rig.allocate({"default/a@c1", "net1"}, config);
  rig.allocate({"default/b@c2", "net1"}, config);
  Files before = rig.disk.files();
  EXPECT_THAT(rig.allocate({"default/c@c3", "net1"}, config), testing::HasSubstr("no address left"));
  EXPECT_EQ(rig.disk.files(), before);
  EXPECT_EQ(rig.store->all_leases()->size(), 4u);
  rig.disk.hold_lock(kDir + "/lock", true);
  EXPECT_THAT(rig.allocate({"default/c@c3", "net1"}, config), testing::HasSubstr("another process has held"));
  EXPECT_FALSE(rig.release({"default/a@c1", "net1"}).has_value());
  EXPECT_EQ(rig.store->all_leases()->size(), 4u);  // the file still exists, and so does the lease
}

// --- Killed at any step.

struct Pod {
  ipam::Owner owner;
  bool attached = false;
};

// Leases, notes and files agree with each other.
void expect_agreement(HostLocalRig& rig, const std::set<ipam::Owner>& attached, const std::string& where) {
  Files files = rig.disk.files();
  std::set<ipam::Owner> holders;
  std::set<std::string> leased;
  std::vector<state::AddressLease> leases = *rig.store->all_leases();
  for (const state::AddressLease& lease : leases) {
    holders.insert({lease.pod, lease.interface});
    const std::string path = fmt::format("{}/{}", kDir, lease.address);
    EXPECT_TRUE(leased.insert(path).second) << where;
    ASSERT_TRUE(files.contains(path)) << where << ": " << path;
    EXPECT_EQ(files[path], state::Sandbox::of_key(lease.pod).container + "\r\n" + lease.interface) << where;
  }
  EXPECT_EQ(holders, attached) << where;
  EXPECT_EQ(rig.store->notes(kFileNotes)->size(), leased.size()) << where;
  for (const auto& [path, content] : files)
    if (path.find("/10.") != std::string::npos || path.find("/fd") != std::string::npos) {
      EXPECT_TRUE(leased.contains(path) || content == "old\r\neth0") << where << ": " << path;
    }
  EXPECT_TRUE(files.contains(kDir + "/10.0.0.3")) << where;
}

// ADD as attach does it: addresses, then the record. DEL: the record with its leases, then the files.
bool step(HostLocalRig& rig, Pod& pod, const api::IpamConfig& config) {
  auto turn = rig.engine->turn(milliseconds(0));
  if (!turn.has_value()) return false;
  if (!pod.attached) {
    if (!allocate(*rig.host_local, *turn, {pod.owner, "mynet", config, {}}).has_value()) return false;
    state::Attachment record{.pod = pod.owner.pod, .interface = pod.owner.interface};
    if (!rig.mortal.put_attachment(record).has_value()) return false;
  } else {
    if (!rig.mortal.forget_attachment(pod.owner.pod, pod.owner.interface).has_value()) return false;
    pod.attached = false;  // from here on the addresses must be freed, now or at the next start
    return rig.host_local->release(*turn, {pod.owner}).has_value();
  }
  pod.attached = true;
  return true;
}

TEST(HostLocal, KilledAnywhereItLosesAndDoublesNothing) {
  std::mt19937 random(20261121);
  int kills = 0;
  for (int round = 0; round < 400; ++round) {
    HostLocalRig rig;
    ASSERT_TRUE(rig.disk.make_directories(kDir, 0755).has_value());
    rig.disk.put(kDir + "/10.0.0.3", "old\r\neth0");
    api::IpamConfig config = config_with({"10.0.0.0/27", "fd00::/64"});
    std::vector<Pod> pods;
    for (int i = 0; i < 5; ++i) pods.push_back({{fmt::format("default/p{}@c{}", i, i), "net1"}});
    for (int life = 0; life < 4; ++life) {
      int left = static_cast<int>(random() % 25);
      if (random() % 2 == 0)
        rig.disk.kill_after(left, [] {});
      else
        rig.mortal.kill_after(left, [&] { rig.disk.kill(); });
      for (int steps = 0; steps < 12; ++steps)
        if (!step(rig, pods[random() % pods.size()], config)) break;
      kills += rig.disk.killed() ? 1 : 0;
      rig.restart();
      ASSERT_EQ(rig.recover(), std::vector<std::string>());
      std::set<ipam::Owner> attached;
      for (Pod& pod : pods) {
        pod.attached = !rig.store->attachments_of(pod.owner.pod)->empty();
        if (pod.attached) attached.insert(pod.owner);
      }
      expect_agreement(rig, attached, fmt::format("round {} life {}", round, life));
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(kills, 1000);
}

// Killed once more during the recovery.
TEST(HostLocal, RecoveryItselfMayBeKilled) {
  api::IpamConfig config = config_with({"10.0.0.0/27"});
  for (int first = 0; first < 6; ++first)
    for (int second = 0; second < 6; ++second) {
      HostLocalRig rig;
      ASSERT_TRUE(rig.disk.make_directories(kDir, 0755).has_value());
      rig.disk.put(kDir + "/10.0.0.3", "old\r\neth0");
      Pod pod{{"default/a@c1", "net1"}};
      rig.mortal.kill_after(first, [&] { rig.disk.kill(); });
      step(rig, pod, config);
      rig.restart();
      rig.disk.kill_after(second, [] {});
      [[maybe_unused]] auto interrupted = rig.recover();
      rig.restart();
      ASSERT_EQ(rig.recover(), std::vector<std::string>());
      std::set<ipam::Owner> attached;
      if (!rig.store->attachments_of("default/a@c1")->empty()) attached.insert(pod.owner);
      expect_agreement(rig, attached, fmt::format("{} {}", first, second));
    }
}

// Else the original would give the address to another pod.
TEST(HostLocal, RecoveryMakesTheFileOfALeaseOrSaysWhyNot) {
  HostLocalRig rig;
  ASSERT_EQ(rig.allocate({"default/a@c1", "net1"}, config_with({"10.0.0.0/28"})), "10.0.0.1/28");
  ASSERT_TRUE(rig.store->put_attachment({.pod = "default/a@c1", .interface = "net1"}));
  ASSERT_TRUE(rig.disk.remove(kDir + "/10.0.0.1"));
  rig.disk.refuse(ENOSPC);
  EXPECT_EQ(rig.recover(), std::vector{fmt::format("create {}/10.0.0.1: ENOSPC (No space left on device)", kDir)});
  rig.disk.refuse(0);
  ASSERT_EQ(rig.recover(), std::vector<std::string>());
  EXPECT_EQ(rig.disk.files().at(kDir + "/10.0.0.1"), "c1\r\nnet1");
  ASSERT_EQ(rig.recover(), std::vector<std::string>()) << "the file that is there already is no failure";
}

// Of three leases after a restart, those stay that a record, a plugin's request or an adoption stands for.
TEST(HostLocal, RecoveryReleasesOnlyWhatNoOneUses) {
  HostLocalRig rig;
  const api::IpamConfig config = config_with({"10.0.0.0/28"});
  for (const char* container : {"recorded", "requested", "adopted", "forgotten"})
    rig.allocate({fmt::format("default/p@{}", container), "net1"}, config);
  ASSERT_TRUE(rig.store->put_attachment({.pod = "default/p@recorded", .interface = "net1"}));
  ASSERT_TRUE(rig.store->put_note(key_of(RequestNote{"mynet", "requested", "net1"}), "default/p@requested"));
  ASSERT_TRUE(rig.store->put_note(adopted_key({"default/p@adopted", "net1"}), kHere));
  ASSERT_EQ(rig.recover(), std::vector<std::string>());
  std::set<std::string> kept;
  const auto leases = rig.store->all_leases();
  for (const state::AddressLease& lease : *leases) kept.insert(lease.pod);
  EXPECT_EQ(kept, (std::set<std::string>{"default/p@recorded", "default/p@requested", "default/p@adopted"}));
  EXPECT_FALSE(rig.disk.files().contains(kDir + "/10.0.0.4"));
  EXPECT_TRUE(rig.disk.files().contains(kDir + "/10.0.0.3"));
}

}  // namespace
}  // namespace railbed::agent
