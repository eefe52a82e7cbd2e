// SPDX-License-Identifier: Apache-2.0
// For every machine of testdata/discover and every profile: check has no finding about the generated manifests.
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "check/check.h"
#include "check/findings/output.h"
#include "facts/facts_json.h"
#include "generate/manifests.h"

namespace railbed::generate {
namespace {

std::vector<facts::NodeFacts> nodes_of(const std::string& name) {
  const auto path = testdata() / "discover" / name / "facts.json";
  doc::Diagnostics problems;
  auto nodes = facts::parse_facts(std::make_shared<doc::Source>(doc::Source{name, content(path)}), problems);
  EXPECT_FALSE(problems.has_errors() || nodes.empty()) << doc::render(problems);
  return nodes;
}

std::string checked(const std::string& yaml, const std::vector<facts::NodeFacts>& nodes) {
  const check::Report report = check::check({std::make_shared<doc::Source>(doc::Source{"made.yaml", yaml})}, nodes, {});
  return report.findings.all().empty() ? "" : check::to_text(report) + yaml;
}

struct Case {
  std::string machine;
  Profile profile;
  bool soft_rdma = false;
  size_t rails = 0;
};

TEST(GenerateTest, FitsTheNodesAndCheckFindsNothing) {
  const Case cases[] = {
      {"gpu8-ib8", Profile::kInfiniband, false, 8}, {"gpu8-ib8", Profile::kHostDevice, false, 8},
      {"gpu8-ib8", Profile::kRoce, false, 1},       {"seed-six-cx7", Profile::kInfiniband, false, 4},
      {"roce-2x-cx6dx", Profile::kRoce, false, 3},  {"roce-2x-cx6dx", Profile::kHostDevice, false, 3},
      {"lab-fresh", Profile::kRoce, true, 2},
  };
  for (const Case& c : cases) {
    const auto nodes = nodes_of(c.machine);
    const auto made = design(nodes, {.profile = c.profile, .soft_rdma = c.soft_rdma});
    ASSERT_TRUE(made) << c.machine << ": " << made.error().to_string();
    EXPECT_EQ(made->rails.size(), c.rails) << c.machine;
    EXPECT_EQ(checked(to_yaml(*made), nodes), "") << c.machine;
  }
}

// Nodes with other PCI addresses get their own policies; the ranges are large enough for the VFs of all nodes.
TEST(GenerateTest, NodesThatDifferGetTheirOwnPolicies) {
  auto nodes = nodes_of("gpu8-ib8");
  nodes.push_back(nodes_of("seed-six-cx7")[0]);
  const auto made = design(nodes, {.profile = Profile::kInfiniband, .vfs = 4, .pods_per_node = 3});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->rails.size(), 8u);
  EXPECT_EQ(addresses_needed(made->rails[0]), 8);
  EXPECT_EQ(addresses_needed(made->rails[7]), 4);
  EXPECT_EQ(checked(to_yaml(*made), nodes), "");
}

TEST(GenerateTest, SaysWhyNothingFits) {
  const auto nodes = nodes_of("roce-2x-cx6dx");
  EXPECT_EQ(design(nodes, {.profile = Profile::kInfiniband}).error().to_string(),
            "no port of these nodes fits the profile: none has its link type\n"
            "  railbed discover shows the ports; --profile names another kind, --soft-rdma takes ports "
            "without RDMA");
  EXPECT_EQ(design(nodes, {.profile = Profile::kRoce, .vfs = 4, .pods_per_node = 5}).error().to_string(),
            "5 pods per node need 5 VFs of rail0 per node, there are 4");
  EXPECT_EQ(design(nodes, {.profile = Profile::kRoce, .addresses = "10.0.0.0/23"}).error().to_string(),
            "10.0.0.0/23 is too small for 3 rails of 11 addresses each");
}

}  // namespace
}  // namespace railbed::generate
