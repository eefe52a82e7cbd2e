// SPDX-License-Identifier: Apache-2.0
// Every folder of testdata/plan: manifests.yaml against the nodes and options that case.txt names; findings
// and plans are compared with expected.txt and expected.json as a whole. RAILBED_UPDATE=1 rewrites both;
// read the difference before you commit it. case.txt, one of these per line:
//   facts testdata/discover/roce-2x-cx6dx/facts.json      one or more nodes
//   in-use 0000:31:00.2 llm/p                             a pod holds a VF
//   soft-rdma | disrupt
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "api/load.h"
#include "base/testdata.h"
#include "doc/json.h"
#include "facts/facts_json.h"
#include "plan/plan.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"

namespace railbed::plan {
namespace {

namespace fs = std::filesystem;

fs::path root() {
  return source_dir();
}

doc::SourcePtr source(const fs::path& path, std::string name) {
  return std::make_shared<doc::Source>(doc::Source{.name = std::move(name), .text = content(path)});
}

struct Case {
  std::vector<facts::NodeFacts> nodes;
  InUse in_use;
  graph::Options graph;
  Options plan;
};

Case read_case(const fs::path& folder, doc::Diagnostics& diagnostics) {
  Case made;
  std::istringstream lines(content(folder / "case.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, first, second;
    words >> word >> first >> second;
    if (word == "facts") {
      for (auto& node : facts::parse_facts(source(root() / first, first), diagnostics))
        made.nodes.push_back(std::move(node));
    } else if (word == "in-use") {
      made.in_use[PciAddress::parse(first).value()] = second;
    } else if (word == "soft-rdma") {
      made.graph.soft_rdma = true;
    } else if (word == "disrupt") {
      made.plan.disrupt = true;
    } else {
      ADD_FAILURE() << folder << "/case.txt: " << line;
    }
  }
  return made;
}

class PlanCase : public testing::TestWithParam<std::string> {};

TEST_P(PlanCase, IsPlannedAsExpected) {
  const fs::path folder = root() / "testdata" / "plan" / GetParam();
  doc::Diagnostics diagnostics;
  const Case given = read_case(folder, diagnostics);
  ASSERT_FALSE(given.nodes.empty());
  const api::Objects objects = api::load({source(folder / "manifests.yaml", "manifests.yaml")}, diagnostics);
  const graph::Resolution resolution(objects, given.nodes, given.graph, graph::PodPlacement::kChecked, diagnostics);
  std::string text;
  doc::Value json = doc::Value::array();
  for (const NodePlan& plan : make_plans(resolution, given.in_use, given.plan, diagnostics)) {
    text += to_text(plan) + "\n";
    json.push(to_value(plan));
  }
  diagnostics.sort();
  text = doc::render(diagnostics) + "\n" + text;
  const std::string document = doc::to_json(json, 1) + "\n";
  if (std::getenv("RAILBED_UPDATE") != nullptr) {
    std::ofstream(folder / "expected.txt") << text;
    std::ofstream(folder / "expected.json") << document;
  }
  EXPECT_EQ(text, content(folder / "expected.txt"));
  EXPECT_EQ(document, content(folder / "expected.json"));
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root() / "testdata" / "plan"))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, PlanCase, testing::ValuesIn(case_names()),
                         [](const testing::TestParamInfo<std::string>& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace railbed::plan
