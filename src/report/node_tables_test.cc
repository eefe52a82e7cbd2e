// SPDX-License-Identifier: Apache-2.0
// The tables of every fixture machine, against testdata/discover/<machine>/{table,wide}.txt.
#include "report/node_tables.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "doc/diagnostic.h"
#include "facts/facts_json.h"

namespace railbed::report {
namespace {

const std::filesystem::path kCases = std::filesystem::path(RAILBED_SOURCE_DIR) / "testdata/discover";

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void expect_golden(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("RAILBED_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::istringstream expected(content(path));
  std::istringstream actual(text);
  if (expected.str() == text) return;
  std::string wanted;
  std::string line;
  for (int number = 1;; ++number) {
    bool more_expected = static_cast<bool>(std::getline(expected, wanted));
    bool more_actual = static_cast<bool>(std::getline(actual, line));
    if (more_expected && more_actual && wanted == line) continue;
    FAIL() << path << ":" << number
           << " differs (RAILBED_UPDATE=1 rewrites it)\n  expected: " << (more_expected ? wanted : "the end")
           << "\n  now:      " << (more_actual ? line : "the end");
  }
}

class Machine : public testing::TestWithParam<const char*> {};

TEST_P(Machine, PrintsItsTables) {
  std::filesystem::path folder = kCases / GetParam();
  doc::Diagnostics diagnostics;
  auto source =
      std::make_shared<const doc::Source>(doc::Source{"facts.json", content(folder / "facts.json")});
  std::vector<facts::NodeFacts> nodes = facts::parse_facts(source, diagnostics);
  ASSERT_EQ(nodes.size(), 1U) << doc::render(diagnostics);
  expect_golden(folder / "table.txt", node_text(nodes[0], Detail::kNormal, Colour::kNo));
  expect_golden(folder / "wide.txt", node_text(nodes[0], Detail::kWide, Colour::kNo));
}

INSTANTIATE_TEST_SUITE_P(Discover, Machine,
                         testing::Values("seed-six-cx7", "gpu8-ib8", "roce-2x-cx6dx", "lab-fresh", "lab",
                                         "no-sriov"));

TEST(NodeText, ANodeWithoutAnythingSaysWhereToLook) {
  EXPECT_EQ(
      node_text({.node = "empty"}, Detail::kNormal, Colour::kNo),
      "node empty: 0 NICs, 0 can make VFs, 0 VFs now, no IOMMU\n"
      "\n"
      "There is no network function on this machine's PCI bus, so nothing can make VFs.\n"
      "  - In a container, /sys of the host must be mounted; on a machine, look at `lspci -nn` for class "
      "02xx.\n");
}

TEST(NumberList, JoinsRuns) {
  EXPECT_EQ(number_list({}), "");
  EXPECT_EQ(number_list({4}), "4");
  EXPECT_EQ(number_list({0, 1, 2, 3, 6, 8, 9}), "0-3, 6, 8-9");
}

}  // namespace
}  // namespace railbed::report
