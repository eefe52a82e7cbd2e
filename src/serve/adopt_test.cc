// SPDX-License-Identifier: Apache-2.0
#include "serve/adopt.h"

#include <gmock/gmock.h>

#include "os/fake_disk.h"
#include "os/fake_kernel.h"
#include "os/memory_files.h"
#include "serve/addresses.h"

namespace railbed::serve {
namespace {

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
    text += fmt::format("{} {} {} {};", one.pool, one.address, one.pod, one.ifname);
  return text;
}

TEST(Adopt, ReadsPoolsAsKubectlWritesThem) {
  EXPECT_EQ(show(read_pools("p.yaml", kList)),
            "whereabouts 10.0.0.1 default/a net1;whereabouts 10.0.0.3 default/b net2;"
            "whereabouts:rail0 fd00::10 default/a ;");
  EXPECT_EQ(show(read_pools("p.json", R"({"kind":"ConfigMap","data":{}})")), "");
  const std::string head =
      "apiVersion: whereabouts.cni.cncf.io/v1alpha1\nkind: IPPool\nmetadata: {name: x}\nspec:\n";
  EXPECT_EQ(show(read_pools("p.yaml", head + "  range: 10.0.0.0/29\n  allocations: {\"8\": {}}\n")),
            "p.yaml:6:17: \"8\" is no offset within 10.0.0.0/29");
  EXPECT_EQ(show(read_pools("p.yaml", head + "  range: ten\n")).substr(0, 25), "p.yaml:5:3: spec.range: \"");
  EXPECT_EQ(show(read_pools("p.yaml", "a: [")).substr(0, 7), "p.yaml:");
}

TEST(Adopt, WhatIsPickedUpIsTakenUntilItsPodGoes) {
  os::MemoryFiles files;
  files.put_file("/pools/a.yaml", kList);
  files.put_file("/pools/readme.txt", "not one of them");
  os::FakeKernel kernel;
  os::FakeDisk disk;
  HostLocal host_local(disk);
  auto store = state::memory_store();
  auto blocks = ipam::whole_ranges();
  Engine engine(kernel, *store, *blocks);
  auto pools = pools_in_directory(files, "/pools");
  Engine::Turn turn = std::move(*engine.turn(std::chrono::milliseconds(0)));
  auto adopted = adopt(turn, *pools);
  ASSERT_TRUE(adopted.has_value()) << adopted.error().to_string();
  EXPECT_EQ(adopted->taken, 3);
  AddressRequest request{.network = "lan", .owner = {"default/c@c3", "net1"}};
  request.ipam.set("type", "whereabouts");
  request.ipam.set("range", "10.0.0.0/29");
  EXPECT_EQ(addresses_for(turn, host_local, request)->assigned[0].address.to_string(), "10.0.0.2/29");
  // A start in between frees nothing that running pods have.
  ASSERT_TRUE(host_local.recover(turn).has_value());
  EXPECT_EQ(store->all_leases()->size(), 3u);
  ASSERT_TRUE(release_addresses(turn, host_local, {{"default/a@c1", "net1"}}).has_value());
  request.owner.pod = "default/d@c4";
  EXPECT_EQ(addresses_for(turn, host_local, request)->assigned[0].address.to_string(), "10.0.0.1/29");
  // The same files once more bring nothing back.
  auto again = adopt(turn, *pools);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->taken, 0);
  // Of default/a nothing is left: its old pool does not name the interface, and any DEL of the pod frees it.
  EXPECT_EQ(store->all_leases()->size(), 1u);
}

TEST(Adopt, WhatIsInUseHereIsTold) {
  os::MemoryFiles files;
  files.put_file("/pools/a.yaml", kList);
  os::FakeKernel kernel;
  auto store = state::memory_store();
  ASSERT_TRUE(
      store->put_lease({"whereabouts", *IpAddress::parse("10.0.0.3"), "default/z@z", "net1"}).has_value());
  auto blocks = ipam::whole_ranges();
  Engine engine(kernel, *store, *blocks);
  auto pools = pools_in_directory(files, "/pools");
  Engine::Turn turn = std::move(*engine.turn(std::chrono::milliseconds(0)));
  auto adopted = adopt(turn, *pools);
  ASSERT_TRUE(adopted.has_value());
  EXPECT_EQ(adopted->taken, 2);
  EXPECT_EQ(adopted->conflicts,
            std::vector<std::string>{
                "address 10.0.0.3 of pool whereabouts belongs to pod default/z@z, interface net1"});
}

}  // namespace
}  // namespace railbed::serve
