// SPDX-License-Identifier: Apache-2.0
#include "node/choose_vf.h"

#include <gtest/gtest.h>

namespace railbed::node {
namespace {

PciAddress pci(const char* text) {
  return *PciAddress::parse(text);
}

// Two PFs with `count` VFs each, 01:00.0 on NUMA node 0 and 81:00.0 on node 1.
std::vector<plan::PoolVf> two_rails(int count) {
  std::vector<plan::PoolVf> pool;
  for (int pf = 0; pf < 2; ++pf)
    for (int i = 0; i < count; ++i) {
      plan::PoolVf vf;
      vf.pf = pci(pf == 0 ? "01:00.0" : "81:00.0");
      vf.index = VfIndex{i};
      vf.address = vf.pf.plus(static_cast<uint32_t>(16 + i));
      vf.numa_node = pf;
      pool.push_back(vf);
    }
  return pool;
}

TEST(ChooseVf, GivesAPodOneVfOfEachRailBeforeASecondOne) {
  std::vector<plan::PoolVf> pool = two_rails(2);
  Holders holders;
  std::vector<std::string> got;
  for (int i = 0; i < 4; ++i) {
    auto vf = choose_vf(pool, "llm/a", holders, pool);
    ASSERT_TRUE(vf);
    holders[id_of(*vf)] = "llm/a";
    got.push_back(vf->pf.to_string() + "/" + vf->index.to_string());
  }
  EXPECT_EQ(got, (std::vector<std::string>{"0000:01:00.0/0", "0000:81:00.0/0", "0000:01:00.0/1", "0000:81:00.0/1"}));
  EXPECT_FALSE(choose_vf(pool, "llm/a", holders, pool));
}

TEST(ChooseVf, SpreadsPodsOverRails) {
  std::vector<plan::PoolVf> pool = two_rails(2);
  const Holders holders = holders_of(pool, {{pool[0].address, "llm/a"}});
  EXPECT_EQ(choose_vf(pool, "llm/b", holders, pool)->pf, pci("81:00.0"));
}

TEST(ChooseVf, StaysOnThePodsNumaNode) {
  std::vector<plan::PoolVf> known = two_rails(2);
  // The pod has a VF of a third PF on node 1, and none of the two rails.
  plan::PoolVf other = known[0];
  other.pf = pci("82:00.0");
  other.address = pci("82:10.0");
  other.numa_node = 1;
  std::vector<plan::PoolVf> pool = known;
  known.push_back(other);
  EXPECT_EQ(choose_vf(pool, "llm/a", {{id_of(other), "llm/a"}}, known)->pf, pci("81:00.0"));
}

TEST(ChooseVf, TakesNothingThatSomebodyHolds) {
  std::vector<plan::PoolVf> pool = two_rails(1);
  pool[0].held_by = std::string(plan::kUnknownHolder);
  EXPECT_EQ(choose_vf(pool, "llm/a", {}, pool)->pf, pci("81:00.0"));
  EXPECT_FALSE(choose_vf(pool, "llm/a", {{id_of(pool[1]), "llm/b"}}, pool));
}

TEST(ChooseVf, DistinguishesVfsWhoseAddressesAreNotKnownYet) {
  std::vector<plan::PoolVf> pool = two_rails(1);
  for (plan::PoolVf& vf : pool) vf.address = PciAddress{};
  EXPECT_EQ(choose_vf(pool, "llm/a", {{id_of(pool[0]), "llm/b"}}, pool)->pf, pci("81:00.0"));
  EXPECT_TRUE(holders_of(pool, {{PciAddress{}, "llm/b"}}).empty());
}

}  // namespace
}  // namespace railbed::node
