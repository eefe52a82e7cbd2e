// SPDX-License-Identifier: Apache-2.0
#include "facts/name_troubles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A card at each of the addresses, with a device and an interface; "" has none.
struct Row {
  const char* address;
  const char* device;
  const char* interface;
};

std::vector<std::string> reported(const std::vector<Row>& rows) {
  NodeFacts facts;
  for (const Row& row : rows) {
    Nic nic;
    nic.pci.address = PciAddress::parse(row.address).value();
    nic.pci.vendor = "15b3";
    nic.pci.device = "1021";
    nic.link_type = LinkType::kInfiniband;
    if (*row.device != '\0') nic.rdma.push_back({.name = row.device});
    if (*row.interface != '\0') nic.netdevs.push_back({.name = row.interface});
    facts.nics.push_back(std::move(nic));
  }
  std::vector<std::string> lines;
  for (const findings::Finding& one : name_troubles_of(facts)) lines.push_back(one.message);
  return lines;
}

TEST(NameTroubles, TwoNumbersAgainstTheOrderOfAllOthers) {
  EXPECT_THAT(
      reported({{"0c:00.0", "mlx5_0", "ib0"},
                {"12:00.0", "mlx5_1", "ib1"},
                {"4b:00.0", "mlx5_3", "ib2"},
                {"54:00.0", "mlx5_2", "ib3"},
                {"8d:00.0", "mlx5_6", "ib4"}}),
      ElementsAre(
          "mlx5_3 (0000:4b:00.0) and mlx5_2 (0000:54:00.0) are in each other's place: all others are in the order of addresses"));
  // The interfaces alone; their names are bound to GUIDs, and the cards were exchanged.
  EXPECT_THAT(
      reported({{"0c:00.0", "mlx5_0", "ib0"},
                {"12:00.0", "mlx5_1", "ib4"},
                {"4b:00.0", "mlx5_2", "ib2"},
                {"54:00.0", "mlx5_3", "ib3"},
                {"8d:00.0", "mlx5_10", "ib1"}}),
      ElementsAre(
          "ib4 (0000:12:00.0) and ib1 (0000:8d:00.0) are in each other's place: all others are in the order of addresses"));
  // Both, said once.
  EXPECT_THAT(reported({{"0c:00.0", "mlx5_1", "ib1"},
                        {"12:00.0", "mlx5_0", "ib0"},
                        {"4b:00.0", "mlx5_2", "ib2"},
                        {"54:00.0", "mlx5_3", "ib3"}}),
              testing::SizeIs(1));
}

TEST(NameTroubles, TwoCardsWhoseNamesContradictEachOther) {
  EXPECT_THAT(
      reported({{"0c:00.0", "mlx5_1", "ib0"}, {"12:00.0", "mlx5_0", "ib1"}}),
      ElementsAre(
          "mlx5_1 (0000:0c:00.0) and mlx5_0 (0000:12:00.0) are in each other's place: their interfaces ib0 and ib1 are in the other order"));
}

TEST(NameTroubles, ANameWithTheAddressOfTheOther) {
  EXPECT_THAT(
      reported({{"3b:00.0", "rocep94s0", "ens1"}, {"5e:00.0", "rocep59s0", "ens2"}}),
      ElementsAre(
          "rocep94s0 (0000:3b:00.0) and rocep59s0 (0000:5e:00.0) are in each other's place: each name has the address of the other"));
  EXPECT_THAT(reported({{"3b:00.0", "mlx5_0", "ibp94s0"}, {"5e:00.0", "mlx5_1", "ibp59s0"}}), testing::SizeIs(1));
  EXPECT_THAT(reported({{"0000:01:00.0", "roceP2p1s0", ""}, {"0002:01:00.0", "rocep1s0", ""}}), testing::SizeIs(1));
  EXPECT_THAT(reported({{"01:00.0", "rocep1s0f1", ""}, {"01:00.1", "rocep1s0f0", ""}}), testing::SizeIs(1));
}

TEST(NameTroubles, AreNotAnOrderOfItsOwnGapsOrNamesOfPeople) {
  const std::vector<std::vector<Row>> machines = {
      // Gaps, and numbers of two digits.
      {{"19:00.0", "mlx5_0", "ibp25s0"},
       {"2a:00.0", "mlx5_3", "ibp42s0"},
       {"3b:00.0", "mlx5_9", "ibp59s0"},
       {"4c:00.0", "mlx5_10", "ibp76s0"}},
      // The kernel found another bridge first.
      {{"19:00.0", "mlx5_4", ""}, {"2a:00.0", "mlx5_5", ""}, {"9b:00.0", "mlx5_0", ""}, {"ab:00.0", "mlx5_1", ""}},
      {{"19:00.0", "mlx5_3", ""}, {"2a:00.0", "mlx5_2", ""}, {"9b:00.0", "mlx5_1", ""}, {"ab:00.0", "mlx5_0", ""}},
      {{"19:00.0", "mlx5_1", ""}, {"2a:00.0", "mlx5_0", ""}},
      // A published machine: no card is at de:00.0.
      {{"bc:00.0", "mlx5_4", "ibp188s0"}, {"dc:00.0", "mlx5_5", "ibp222s0"}},
      {{"19:00.0", "rail1", "storage"},
       {"2a:00.0", "rail0", "compute"},
       {"3b:00.0", "rail_x", "a"},
       {"4c:00.0", "x", "b"}},
      // A name with the address of another card, which has a name of its own.
      {{"3b:00.0", "rocep94s0", ""}, {"5e:00.0", "mlx5_1", ""}},
      {{"3b:00.0", "", "eth1"}, {"5e:00.0", "", "eth0"}, {"6e:00.0", "", "eth2"}, {"7e:00.0", "", "eth3"}},
      {},
  };
  for (const std::vector<Row>& rows : machines) EXPECT_THAT(reported(rows), IsEmpty());
}

TEST(NameTroubles, HugeNumbersAreNone) {
  EXPECT_THAT(reported({{"3b:00.0", "mlx5_99999999999999999999", "ibp300s0"},
                        {"5e:00.0", "mlx5_", "ibp59s32"},
                        {"6e:00.0", "5", "ibP99999999999p1s0"},
                        {"7e:00.0", "", "ibp1s0f9"}}),
              IsEmpty());
}

}  // namespace
}  // namespace railbed::facts
