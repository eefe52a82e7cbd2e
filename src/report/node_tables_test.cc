// SPDX-License-Identifier: Apache-2.0
// The tables of every fixture machine, against testdata/discover/<machine>/{table,wide}.txt.
#include "report/node_tables.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/diagnostic.h"
#include "facts/facts_json.h"

namespace railbed::report {
namespace {

class Machine : public testing::TestWithParam<const char*> {};

TEST_P(Machine, PrintsItsTables) {
  std::filesystem::path folder = testdata() / "discover" / GetParam();
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<const doc::Source>(doc::Source{"facts.json", content(folder / "facts.json")});
  std::vector<facts::NodeFacts> nodes = facts::parse_facts(source, diagnostics);
  ASSERT_EQ(nodes.size(), 1U) << doc::render(diagnostics);
  expect_golden(folder / "table.txt", node_text(nodes[0], Detail::kNormal, Colour::kNo));
  expect_golden(folder / "wide.txt", node_text(nodes[0], Detail::kWide, Colour::kNo));
}

INSTANTIATE_TEST_SUITE_P(Discover, Machine,
                         testing::Values("seed-six-cx7", "gpu8-ib8", "roce-2x-cx6dx", "lab-fresh", "lab", "no-sriov"));

TEST(NodeText, ANodeWithoutAnythingSaysWhereToLook) {
  EXPECT_EQ(node_text({.node = "empty"}, Detail::kNormal, Colour::kNo),
            "node empty: 0 NICs, 0 can make VFs, 0 VFs now, no IOMMU\n"
            "\n"
            "There is no network function on this machine's PCI bus, so nothing can make VFs.\n"
            "  - In a container, /sys of the host must be mounted; on a machine, look at `lspci -nn` for class "
            "02xx.\n");
}

TEST(NicTable, TellsWhatRidesOnAPf) {
  facts::Nic nic;
  nic.pci.address = PciAddress::parse("0000:01:00.0").value();
  nic.netdevs = {{.name = "eth0", .master = "bond0"}};
  facts::NetInterface vlan{.name = "eth0.7", .kind = "vlan", .lower = "eth0"};
  facts::NetInterface other{.name = "eth1.7", .kind = "vlan", .lower = "eth1"};
  std::string text = nic_table({.nics = {nic}, .virtual_netdevs = {vlan, other}}, Detail::kNormal).to_text(Colour::kNo);
  EXPECT_NE(text.find("bond0, eth0.7"), std::string::npos) << text;
  EXPECT_EQ(text.find("eth1.7"), std::string::npos) << text;
}

TEST(NumberList, JoinsRuns) {
  EXPECT_EQ(number_list({}), "");
  EXPECT_EQ(number_list({4}), "4");
  EXPECT_EQ(number_list({0, 1, 2, 3, 6, 8, 9}), "0-3, 6, 8-9");
}

}  // namespace
}  // namespace railbed::report
