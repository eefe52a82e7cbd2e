// SPDX-License-Identifier: Apache-2.0
// The allocator gives what assign() gives, whatever came before, and stays within the blocks.
#include "ipam/allocator.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ipam/stored_blocks.h"
#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

using api::IpamConfig;
using api::IpamRange;
using api::IpamType;

std::string show(const Result<std::vector<Assigned>>& answer) {
  if (!answer.has_value()) return fmt::format("{}: {}", code_name(answer.error().code), answer.error().to_string());
  std::string text;
  for (const Assigned& one : *answer)
    text += fmt::format("{}@{}[{}] ", one.address, one.gateway.has_value() ? one.gateway->to_string() : "", one.pool);
  return text;
}

class Blocks : public BlockSource {
 public:
  Result<std::vector<IpRange>> blocks(const std::string&, const IpamRange&) override { return given; }
  std::vector<IpRange> given;
};

IpAddress any_address(const IpPrefix& within) {
  return *within.network().plus(*rc::gen::inRange<uint64_t>(0, 70));
}

IpamRange any_range() {
  static const char* const kSubnets[] = {"10.0.0.0/29", "10.0.0.0/26", "10.0.0.8/30", "10.0.0.4/31", "10.0.0.9/32",
                                         "10.0.0.0/8",  "fd00::/64",   "fd00::/126",  "fd00::10/124"};
  IpamRange one = range(*rc::gen::elementOf(std::vector<const char*>(std::begin(kSubnets), std::end(kSubnets))));
  if (*rc::gen::arbitrary<bool>()) {
    IpAddress first = any_address(one.subnet);
    IpAddress last = any_address(one.subnet);
    if (last < first) std::swap(first, last);
    if (one.subnet.contains(first) && one.subnet.contains(last)) one.addresses = {first, last};
  }
  int bits = one.subnet.address.bits();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    one.excluded.push_back({any_address(one.subnet), *rc::gen::inRange(bits - 5, bits + 1)});
  if (*rc::gen::arbitrary<bool>()) one.gateway = any_address(one.subnet);
  return one;
}

IpamConfig any_config() {
  IpamConfig config;
  config.type = *rc::gen::element(IpamType::kWhereabouts, IpamType::kHostLocal, IpamType::kWhereabouts);
  for (int sets = *rc::gen::inRange(1, 4); sets > 0; --sets) {
    config.range_sets.emplace_back();
    for (int ranges = *rc::gen::inRange(1, 3); ranges > 0; --ranges) config.range_sets.back().push_back(any_range());
  }
  config.network_name = *rc::gen::element<std::string>("", "", "rail");
  if (*rc::gen::inRange(0, 4) == 0) config.fixed.push_back({prefix("192.168.0.7/24"), std::nullopt});
  if (*rc::gen::inRange(0, 4) == 0)
    config.routes.push_back({.destination = prefix("0.0.0.0/0"), .gateway = ip("10.0.0.3")});
  return config;
}

// Any requests, releases and restarts over any overlapping networks: the same answers and the same errors as
// the function that looks at all leases.
RC_GTEST_PROP(Allocator, AnswersAsAssignDoes, ()) {
  std::vector<IpamConfig> configs;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) configs.push_back(any_config());
  std::unique_ptr<BlockSource> whole = whole_ranges();
  Allocator allocator(*whole);
  std::vector<state::AddressLease> leases;
  int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    Owner owner{fmt::format("default/p{}", *rc::gen::inRange(0, 12)), "net1"};
    int what = *rc::gen::inRange(0, 10);
    if (what == 0) {
      allocator.load(leases);
    } else if (what < 4) {
      allocator.release(owner);
      std::erase_if(leases, [&](const state::AddressLease& lease) { return lease.pod == owner.pod; });
    } else {
      const IpamConfig& config = *rc::gen::elementOf(configs);
      std::string network = *rc::gen::element<std::string>("a", "b");
      std::vector<std::string> requested;
      for (int i = *rc::gen::element(0, 0, 0, 1, 2); i > 0; --i)
        requested.push_back(any_address(config.range_sets[0][0].subnet).to_string());
      auto expected = assign(config, network, taken_by(leases), requested, owner);
      auto answer = allocator.allocate(config, network, requested, owner);
      RC_ASSERT(show(answer) == show(expected));
      if (!answer.has_value()) continue;
      for (const Assigned& one : *answer) {
        state::AddressLease lease{one.pool, one.address.address, owner.pod, owner.interface};
        if (!one.pool.empty() && std::ranges::count(leases, lease) == 0) leases.push_back(lease);
      }
    }
  }
  std::map<std::string, uint64_t> taken;
  for (const state::AddressLease& lease : leases) ++taken[lease.pool];
  for (const Allocator::Usage& usage : allocator.usage()) RC_ASSERT(usage.taken == taken[usage.pool]);
}

TEST(Allocator, KeepsToItsBlocksInTheirOrder) {
  Blocks blocks;
  blocks.given = {{ip("10.0.0.64"), ip("10.0.0.65")}, {ip("10.0.0.8"), ip("10.0.0.8")}};
  Allocator allocator(blocks);
  IpamConfig config = whereabouts({{range("10.0.0.0/24")}});
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"a", "net1"})), "10.0.0.64/24@[whereabouts] ");
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"b", "net1"})), "10.0.0.65/24@[whereabouts] ");
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"c", "net1"})), "10.0.0.8/24@[whereabouts] ");
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"d", "net1"})),
            "exhausted: network n: this node has no address left in its blocks 10.0.0.64-10.0.0.65, 10.0.0.8-10.0.0.8 "
            "of 10.0.0.0-10.0.0.255 of 10.0.0.0/24 (pool whereabouts): all 3 are in use: 10.0.0.8 c net1, 10.0.0.64 a "
            "net1, 10.0.0.65 b net1\n"
            "  add another block of the range to the node, or delete pods that hold addresses");
  blocks.given.push_back({ip("10.0.0.128"), ip("10.0.0.128")});
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"d", "net1"})), "10.0.0.128/24@[whereabouts] ");
  EXPECT_EQ(show(allocator.allocate(config, "n", {"10.0.0.9"}, {"e", "net1"})),
            "conflict: network n: the requested address 10.0.0.9 is in no block of this node (pool whereabouts)\n"
            "  another node may allocate it: request an address of this node's blocks, or schedule the pod to the node "
            "that has it");
  allocator.release({"b", "net1"});
  EXPECT_EQ(show(allocator.allocate(config, "n", {"10.0.0.65"}, {"e", "net1"})), "10.0.0.65/24@[whereabouts] ");
  blocks.given.clear();
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"f", "net1"})),
            "exhausted: network n: this node has no block of 10.0.0.0-10.0.0.255 of 10.0.0.0/24 (pool whereabouts)\n"
            "  add another block of the range to the node, or delete pods that hold addresses");
  // An interface keeps the address that it got while the block belonged to this node.
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"a", "net1"})), "10.0.0.64/24@[whereabouts] ");
}

TEST(Allocator, AnOwnerThatComesAgainGivesBackOnlyWhatItHasNow) {
  Blocks blocks;
  blocks.given = {{ip("10.0.0.8"), ip("10.0.0.9")}};
  Allocator allocator(blocks);
  const IpamConfig config = whereabouts({{range("10.0.0.0/24")}});
  EXPECT_EQ(show(allocator.allocate(config, "n", {"10.0.0.8"}, {"a", "net1"})), "10.0.0.8/24@[whereabouts] ");
  allocator.release({"a", "net1"});
  EXPECT_EQ(show(allocator.allocate(config, "n", {"10.0.0.8"}, {"b", "net1"})), "10.0.0.8/24@[whereabouts] ");
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"a", "net1"})), "10.0.0.9/24@[whereabouts] ");
  allocator.release({"a", "net1"});
  EXPECT_EQ(allocator.holder("whereabouts", ip("10.0.0.8")), Owner("b", "net1"));
  EXPECT_EQ(allocator.holder("whereabouts", ip("10.0.0.9")), std::nullopt);
}

// Any blocks: all addresses come from them, none twice, and an allocation fails only when every one is used.
RC_GTEST_PROP(Allocator, NeverLeavesItsBlocks, ()) {
  Blocks blocks;
  std::set<IpAddress> inside;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    IpAddress first = *ip("10.0.0.0").plus(*rc::gen::inRange<uint64_t>(0, 250));
    IpAddress last = *first.plus(*rc::gen::inRange<uint64_t>(0, 20));
    blocks.given.push_back({first, last});
    for (IpAddress a = first; !(last < a); a = *a.plus(1))
      if (prefix("10.0.0.0/24").contains(a) && a != ip("10.0.0.0") && a != ip("10.0.0.255") && a != ip("10.0.0.9"))
        inside.insert(a);
  }
  IpamConfig config = whereabouts({{range("10.0.0.0/24")}});
  config.range_sets[0][0].excluded.push_back(prefix("10.0.0.9/32"));
  Allocator allocator(blocks);
  std::set<IpAddress> given;
  for (int i = 0; i < 300; ++i) {
    auto answer = allocator.allocate(config, "n", {}, {fmt::format("p{}", i), "net1"});
    if (!answer.has_value()) {
      RC_ASSERT(answer.error().code == Code::kExhausted);
      break;
    }
    RC_ASSERT(given.insert(answer->front().address.address).second);
  }
  RC_ASSERT(given == inside);
  RC_ASSERT(allocator.usage().at(0).free == 0u);
}

TEST(StoredBlocks, AreThoseOfTheStoreInsideTheRange) {
  std::unique_ptr<state::Store> store = state::memory_store();
  StoredBlocks source(*store, WithoutBlocks::kNothing);
  Allocator allocator(source);
  IpamConfig config = whereabouts({{range("10.0.0.0/24")}});
  auto first = allocator.allocate(config, "n", {}, {"a", "net1"});
  ASSERT_FALSE(first.has_value());
  EXPECT_THAT(first.error().message, testing::HasSubstr("this node has no block of"));
  // The first block reaches beyond the requested range: only its part inside the range is used.
  ASSERT_TRUE(store->put_block({"whereabouts", {ip("10.0.0.254"), ip("10.0.1.9")}}).has_value());
  ASSERT_TRUE(store->put_block({"whereabouts:rail", {ip("10.0.0.32"), ip("10.0.0.63")}}).has_value());
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"a", "net1"})), "10.0.0.254/24@[whereabouts] ");
  auto full = allocator.allocate(config, "n", {}, {"b", "net1"});
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code, Code::kExhausted);
  ASSERT_TRUE(store->put_block({"whereabouts", {ip("10.0.0.16"), ip("10.0.0.31")}}).has_value());
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"b", "net1"})), "10.0.0.16/24@[whereabouts] ");
  config.type = IpamType::kHostLocal;
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"b", "net2"})), "10.0.0.1/24@[host-local:n] ");
}

TEST(StoredBlocks, OnOneMachineARangeWithoutBlocksIsWhole) {
  std::unique_ptr<state::Store> store = state::memory_store();
  StoredBlocks source(*store, WithoutBlocks::kWholeRange);
  Allocator allocator(source);
  ASSERT_TRUE(store->put_block({"whereabouts", {ip("10.0.0.16"), ip("10.0.0.31")}}).has_value());
  EXPECT_EQ(show(allocator.allocate(whereabouts({{range("10.0.0.0/24")}}), "n", {}, {"a", "net1"})),
            "10.0.0.16/24@[whereabouts] ");
  EXPECT_EQ(show(allocator.allocate(whereabouts({{range("10.9.0.0/24")}}), "n", {}, {"a", "net2"})),
            "10.9.0.1/24@[whereabouts] ");
}

TEST(Allocator, SaysWhatInterfacesHaveWithALeaseOrWithout) {
  std::unique_ptr<BlockSource> whole = whole_ranges();
  Allocator allocator(*whole);
  allocator.take("whereabouts", ip("10.0.0.5"), {"somebody", ""});
  allocator.set_in_use({{ip("10.0.0.6"), {"in namespace a", "net1"}}});
  for (const auto& [address, taken] :
       {std::pair("10.0.0.5", true), std::pair("10.0.0.6", true), std::pair("10.0.0.7", false)})
    EXPECT_EQ(allocator.is_taken("whereabouts", ip(address)), taken) << address;
  EXPECT_FALSE(allocator.is_taken("whereabouts:blue", ip("10.0.0.5"))) << "in another pool";
  EXPECT_FALSE(allocator.refuses());
  allocator.refuse(Error{.code = Code::kBusy, .message = "not known yet"});
  EXPECT_TRUE(allocator.refuses());
}

TEST(Allocator, CountsWhatIsTakenAndFree) {
  std::unique_ptr<BlockSource> whole = whole_ranges();
  Allocator allocator(*whole);
  IpamConfig config = whereabouts({{range("10.0.0.0/29")}});
  config.range_sets[0][0].gateway = ip("10.0.0.1");
  ASSERT_TRUE(allocator.allocate(config, "n", {}, {"a", "net1"}).has_value());
  allocator.take("whereabouts", ip("10.0.0.5"), {"somebody", ""});
  allocator.take("whereabouts", ip("10.9.0.5"), {"somebody", ""});  // outside every range requested so far
  std::vector<Allocator::Usage> usage = allocator.usage();
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].taken, 3u);
  EXPECT_EQ(usage[0].free, 3u);  // .3 .4 .6 are left of six hosts: one is the gateway, two are taken
  ASSERT_TRUE(allocator.allocate(whereabouts({{range("fd00::/48")}}), "n", {}, {"a", "net2"}).has_value());
  EXPECT_EQ(allocator.usage()[0].free, UINT64_MAX);
  allocator.load({});
  EXPECT_EQ(allocator.loads(), 1u);
  EXPECT_EQ(show(allocator.allocate(config, "n", {}, {"b", "net1"})), "10.0.0.2/29@10.0.0.1[whereabouts] ");
}

TEST(Allocator, CountsAnAddressOfTwoRangesOnce) {
  std::unique_ptr<BlockSource> whole = whole_ranges();
  Allocator allocator(*whole);
  ASSERT_TRUE(allocator.allocate(whereabouts({{range("10.0.0.0/28")}}), "n", {}, {"a", "net1"}).has_value());
  ASSERT_TRUE(allocator.allocate(whereabouts({{range("10.0.0.8/29")}}), "n", {}, {"b", "net1"}).has_value());
  const std::vector<Allocator::Usage> usage = allocator.usage();
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].taken, 2u);
  EXPECT_EQ(usage[0].free, 12u);  // .1 to .14, less two
}

}  // namespace
}  // namespace railbed::ipam
