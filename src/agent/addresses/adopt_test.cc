// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/addresses/addresses.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"
#include "os/record/memory_files.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;

const char* const kList = R"(apiVersion: v1
kind: List
items:
- apiVersion: whereabouts.cni.cncf.io/v1alpha1
  kind: IPPool
  metadata: {name: 10.0.0.0-29, namespace: kube-system}
  spec:
    range: 10.0.0.0/29
    allocations:
      "1": {id: abc, ifname: net1, podref: default/a}
      "3": {id: def, ifname: net2, podref: default/b}
- apiVersion: whereabouts.cni.cncf.io/v1alpha1
  kind: IPPool
  metadata: {name: rail0-fd00---64}
  spec: {range: "fd00::/64", allocations: {"16": {id: abc, podref: default/a}}}
- apiVersion: whereabouts.cni.cncf.io/v1alpha1
  kind: OverlappingRangeIPReservation
  metadata: {name: 10.0.0.1}
)";

std::string show(const Result<std::vector<ForeignAllocation>>& all) {
  if (!all.has_value()) return all.error().story();
  std::string text;
  for (const ForeignAllocation& one : *all)
    text += fmt::format("{} {} {} {} {};", one.pool, one.address, one.pod, one.container, one.ifname);
  return text;
}

TEST(Adopt, ReadsPoolsAsKubectlWritesThem) {
  EXPECT_EQ(show(read_pools("p.yaml", kList)),
            "whereabouts 10.0.0.1 default/a abc net1;whereabouts 10.0.0.3 default/b def net2;"
            "whereabouts:rail0 fd00::10 default/a abc ;");
  EXPECT_EQ(show(read_pools("p.json", R"({"kind":"ConfigMap","data":{}})")), "");
  const std::string head = "apiVersion: whereabouts.cni.cncf.io/v1alpha1\nkind: IPPool\nmetadata: {name: x}\nspec:\n";
  EXPECT_EQ(show(read_pools("p.yaml", head + "  range: 10.0.0.0/29\n  allocations: {\"8\": {}}\n")),
            "p.yaml:6:17: \"8\" is not an offset within 10.0.0.0/29");
  EXPECT_EQ(show(read_pools("p.yaml", head + "  range: ten\n")).substr(0, 25), "p.yaml:5:3: spec.range: \"");
  EXPECT_EQ(show(read_pools("p.yaml", "a: [")).substr(0, 7), "p.yaml:");
}

// A node that is being switched over: default/a runs here, default/b elsewhere.
class AdoptTest : public testing::Test {
 protected:
  void SetUp() override {
    files.put_file("/pools/a.yaml", kList);
    files.put_file("/pools/readme.txt", "not one of them");
    disk.put("/var/lib/cni/multus/abc", "[]");
  }

  Adopted adopt_now() {
    auto adopted = adopt(turn(), *pools, disk);
    EXPECT_TRUE(adopted.has_value()) << adopted.error().to_string();
    return adopted.value_or(Adopted{});
  }
  Engine::Turn& turn() {
    if (!turn_.has_value()) turn_.emplace(std::move(*engine.turn(std::chrono::milliseconds(0))));
    return *turn_;
  }
  // The first address that a new pod gets.
  std::string next(const std::string& pod) {
    AddressRequest request{.network = "lan", .owner = {pod, "net1"}};
    request.ipam.set("type", "whereabouts");
    request.ipam.set("range", "10.0.0.0/29");
    auto given = addresses_for(turn(), host_local, request);
    return given.has_value() ? given->assigned[0].address.to_string() : given.error().story();
  }
  std::vector<std::string> leases() {
    std::vector<std::string> all;
    auto stored = store->all_leases();
    for (const state::AddressLease& one : *stored)
      all.push_back(fmt::format("{} {} {}", one.address, one.pod, one.interface));
    return all;
  }

  os::MemoryFiles files;
  os::FakeKernel kernel;
  os::FakeDisk disk;
  HostLocal host_local{disk};
  std::unique_ptr<state::Store> store = state::memory_store();
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  DurableRecords records{disk, kDurableRecords, kernel.boot_id()};
  Engine engine{kernel, *store, *blocks, records};
  std::unique_ptr<ForeignAllocations> pools = pools_in_directory(files, "/pools");
  std::optional<Engine::Turn> turn_;
};

TEST_F(AdoptTest, WhatIsPickedUpIsTakenUntilTheDelOfItsContainer) {
  EXPECT_EQ(adopt_now().taken, 3);
  EXPECT_THAT(leases(),
              ElementsAre("10.0.0.1 default/a@abc net1", "10.0.0.3 default/b@def net2", "fd00::10 default/a@abc "));
  EXPECT_EQ(next("default/c@c3"), "10.0.0.2/29");
  // A restart of the agent in between frees nothing that running pods have.
  ASSERT_TRUE(host_local.recover(turn()).has_value());
  EXPECT_EQ(leases().size(), 3u);
  // The same pod's next sandbox is another container, so its DEL must not free this one.
  ASSERT_TRUE(release_adopted(turn(), {"new", "default/a", "net1"}).has_value());
  ASSERT_TRUE(release_adopted(turn(), {"abc", "", "net7"}).has_value());
  EXPECT_EQ(leases().size(), 2u);  // the old pool has no interface for this address
  ASSERT_TRUE(release_adopted(turn(), {"abc", "", "net1"}).has_value());
  EXPECT_THAT(leases(), ElementsAre("10.0.0.3 default/b@def net2"));
  EXPECT_EQ(next("default/d@c4"), "10.0.0.1/29");
  // Reading the same files once more brings nothing back.
  EXPECT_EQ(adopt_now().taken, 0);
  EXPECT_THAT(leases(), ElementsAre("10.0.0.3 default/b@def net2"));
}

TEST_F(AdoptTest, AddressesOfOtherNodesAreTakenAsLongAsTheListSaysSo) {
  EXPECT_EQ(adopt_now().taken, 3);
  std::string later = kList;
  const std::string gone = R"(      "3": {id: def, ifname: net2, podref: default/b})";
  const std::string come = R"(      "4": {id: ghi, ifname: net1, podref: default/e})";
  later.replace(later.find(gone), gone.size(), come);
  files.put_file("/pools/a.yaml", later);
  Adopted adopted = adopt_now();
  EXPECT_EQ(adopted.taken, 1);
  EXPECT_EQ(adopted.freed, 1);
  EXPECT_THAT(leases(),
              ElementsAre("10.0.0.1 default/a@abc net1", "10.0.0.4 default/e@ghi net1", "fd00::10 default/a@abc "));
  // Allocations of this machine stay: their pods still run, whatever the list says.
  files.put_file("/pools/a.yaml", "");
  EXPECT_EQ(adopt_now().freed, 1);
  EXPECT_THAT(leases(), ElementsAre("10.0.0.1 default/a@abc net1", "fd00::10 default/a@abc "));
  EXPECT_EQ(next("default/c@c3"), "10.0.0.2/29");
  // An allocation that appears in the list again is taken over again.
  files.put_file("/pools/a.yaml", kList);
  EXPECT_EQ(adopt_now().taken, 1);
}

TEST_F(AdoptTest, ContainersOfThisMachineThatNoOneKnowsAreFree) {
  EXPECT_EQ(adopt_now().taken, 3);
  EXPECT_EQ(*collect_adopted(turn(), [](const std::string& container) { return container == "abc"; }), 0);
  EXPECT_EQ(*collect_adopted(turn(), [](const std::string&) { return false; }), 2);
  EXPECT_THAT(leases(), ElementsAre("10.0.0.3 default/b@def net2"));
  EXPECT_EQ(adopt_now().taken, 0);
}

TEST_F(AdoptTest, AStartFreesWhatWasGivenBackWhileTheAgentWasAway) {
  EXPECT_EQ(adopt_now().taken, 3);
  ASSERT_TRUE(disk.remove("/var/lib/cni/multus/abc").has_value());
  EXPECT_EQ(adopt_now().freed, 2);
  EXPECT_EQ(next("default/c@c3"), "10.0.0.1/29");
}

TEST_F(AdoptTest, PoolsMayBeInAnyManifest) {
  const auto pool = [](int last) {
    return fmt::format(
        R"({{"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool", "metadata": {{"name": "10.0.0.0-29"}},
 "spec": {{"range": "10.0.0.0/29", "allocations": {{"{}": {{"id": "abc", "ifname": "net{}", "podref": "default/a"}}}}}}}})",
        last, last);
  };
  files.put_file("/pools/a.yaml", pool(1));
  files.put_file("/pools/b.yml", pool(2));
  files.put_file("/pools/c.json", pool(3));
  files.put_file("/pools/d.yaml~", pool(4));
  EXPECT_EQ(adopt_now().taken, 3);
  EXPECT_THAT(leases(),
              ElementsAre("10.0.0.1 default/a@abc net1", "10.0.0.2 default/a@abc net2", "10.0.0.3 default/a@abc net3"));
}

TEST_F(AdoptTest, WhatCannotBeReadChangesNothing) {
  EXPECT_EQ(adopt_now().taken, 3);
  files.put_file("/pools/b.yaml", "a: [");
  auto adopted = adopt(turn(), *pools, disk);
  ASSERT_FALSE(adopted.has_value());
  EXPECT_EQ(adopted.error().message.substr(0, 14), "/pools/b.yaml:");
  EXPECT_EQ(leases().size(), 3u);
}

TEST_F(AdoptTest, WhatIsInUseHereIsReported) {
  ASSERT_TRUE(store->put_lease({"whereabouts", *IpAddress::parse("10.0.0.3"), "default/z@z", "net1"}).has_value());
  Adopted adopted = adopt_now();
  EXPECT_EQ(adopted.taken, 2);
  EXPECT_THAT(adopted.conflicts,
              ElementsAre("address 10.0.0.3 of pool whereabouts belongs to pod default/z@z, interface net1"));
}

}  // namespace
}  // namespace railbed::agent
