// SPDX-License-Identifier: Apache-2.0
// The tables of every fixture machine, against testdata/discover/<machine>/{table,wide}.txt.
#include "report/node_tables.h"

#include <sstream>

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
            "node empty: 0 NICs, 0 can make VFs, 0 VFs now, IOMMU unknown\n"
            "\n"
            "There is no network function on this machine's PCI bus, so nothing can make VFs.\n"
            "  - In a container, /sys of the host must be mounted; on a machine, look at `lspci -nn` for class "
            "02xx.\n");
}

TEST(NicTable, ReportsWhatRidesOnAPf) {
  facts::Nic nic;
  nic.pci.address = PciAddress::parse("0000:01:00.0").value();
  nic.netdevs = {{.name = "eth0", .master = "bond0"}};
  facts::NetInterface vlan{.name = "eth0.7", .kind = "vlan", .lower = "eth0"};
  facts::NetInterface other{.name = "eth1.7", .kind = "vlan", .lower = "eth1"};
  std::string text = nic_table({.nics = {nic}, .virtual_netdevs = {vlan, other}}, Detail::kNormal).to_text(Colour::kNo);
  EXPECT_NE(text.find("bond0, eth0.7"), std::string::npos) << text;
  EXPECT_EQ(text.find("eth1.7"), std::string::npos) << text;
}

TEST(NodeText, NothingOfAMachineReachesTheTerminalUnescaped) {
  const std::string text =
      node_text({.node = "\x1b[31mred\nnode", .kernel = "6\x07", .problems = {}}, Detail::kNormal, Colour::kNo);
  EXPECT_TRUE(text.starts_with("node \\x1b[31mred\\x0anode, kernel 6\\x07: ")) << text;
}

TEST(NodeText, SaysWhatIsUnknown) {
  const auto line_of = [](std::vector<std::string> unavailable) {
    const std::string text =
        node_text({.node = "n", .unavailable = std::move(unavailable)}, Detail::kNormal, Colour::kNo);
    const size_t at = text.find("Not available");
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line_of({}), "");
  EXPECT_EQ(line_of({"addresses"}),
            "Not available from these files: addresses. The host's own use of devices is then not shown.");
  EXPECT_EQ(
      line_of({"addresses", "routes", "PCI functions"}),
      "Not available from these files: addresses, routes and PCI functions. The host's own use of devices is then "
      "not shown.");
  EXPECT_EQ(line_of({"PCI functions"}), "Not available from these files: PCI functions.");
}

TEST(NicTable, OfUnknownStateShowsNone) {
  facts::Nic nic;
  nic.pci.address = PciAddress::parse("0000:01:00.0").value();
  nic.netdevs = {{.name = "eth0"}};
  EXPECT_EQ(nic_table({.nics = {nic}}, Detail::kNormal).to_text(Colour::kNo),
            "ROLE       PCI           NETDEV\n"
            "front end  0000:01:00.0  eth0\n");
}

TEST(NodeTables, FitInto120Columns) {
  for (const char* machine : {"gpu8-ib8", "seed-six-cx7", "roce-2x-cx6dx"})
    for (const char* file : {"table.txt", "wide.txt"}) {
      std::istringstream lines(content(testdata() / "discover" / machine / file));
      bool of_vfs = false;  // the table of VFs is wider
      for (std::string line; std::getline(lines, line);) {
        if (line.empty()) of_vfs = false;
        of_vfs = of_vfs || line.starts_with("PF ");
        if (of_vfs) continue;
        EXPECT_LE(display_width(line), 120U) << machine << "/" << file << ": " << line;
      }
    }
}

TEST(VfTable, ShowsTheNodeGuidThatThePfSetAndWhatIsOddAboutIt) {
  const struct {
    std::optional<Guid> port, node, own;
    const char* shown;
  } rows[] = {
      {std::nullopt, std::nullopt, std::nullopt, ""},
      {Guid{0x11}, std::nullopt, std::nullopt, "unset"},
      {Guid{0x11}, Guid{0x0200'5e00'00aa'0101}, std::nullopt, "0200:5e00:00aa:0101"},
      {Guid{0x11}, Guid{0x0200'5e00'00aa'0101}, Guid{0x0200'5e00'00aa'0101}, "0200:5e00:00aa:0101"},
      {Guid{0x11}, Guid{0x0101'aa00'005e'0002}, Guid{0x0200'5e00'00aa'0101}, "0101:aa00:005e:0002 (reversed)"},
  };
  for (const auto& row : rows) {
    facts::Vf vf;
    vf.port_guid = row.port;
    vf.node_guid = row.node;
    vf.query_rss = false;
    if (row.own) vf.rdma.emplace().node_guid = row.own;
    facts::Nic nic;
    nic.vfs = {vf};
    facts::NodeFacts node{.node = "n"};
    node.nics = {nic};
    const doc::Value shown = vf_table(node).to_value();
    const doc::Value& first = shown.as_array()->front();
    const doc::Value* guid = first.find("adminNodeGuid");
    EXPECT_EQ(guid == nullptr ? "" : *guid->as_string(), row.shown);
    EXPECT_EQ(*first.find("queryRss")->as_string(), "off");
  }
}

TEST(NumberList, JoinsRuns) {
  EXPECT_EQ(number_list({}), "");
  EXPECT_EQ(number_list({4}), "4");
  EXPECT_EQ(number_list({0, 1, 2, 3, 6, 8, 9}), "0-3, 6, 8-9");
}

}  // namespace
}  // namespace railbed::report
