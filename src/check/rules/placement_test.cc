// SPDX-License-Identifier: Apache-2.0
// Placement where facts lack something: what is not known is no finding, and the report says what it is. And taints
// that change between two looks at a cluster.
#include "api/placement.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "api/load.h"
#include "check/case_files.h"
#include "check/findings/output.h"
#include "check/project/policy.h"

namespace railbed::check {
namespace {

std::string placement_case(const std::string& file) {
  return content(testdata() / "check" / file);
}

std::string replaced_in(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

Report placement_report(const std::string& text, const std::vector<facts::NodeFacts>& nodes,
                        const Settings& settings = {}) {
  return check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, nodes, settings);
}

// Findings of the families about placement, a line each.
std::string placement_findings(const doc::Diagnostics& findings) {
  std::string out;
  for (const doc::Diagnostic& one : findings.all())
    if (one.id.starts_with("RB-PLACE-")) out += one.id + ": " + one.message + "\n";
  return out;
}

std::string left_open(const Report& report) {
  std::string out;
  for (const Undecided& one : report.undecided) out += one.rule + ": " + one.what + "\n";
  return out;
}

constexpr const char* kNotKnown =
    "RB-PLACE-003: whether Pod ai/probe could have processors of its own, which its limits rule out: the facts of modest "
    "have no configuration of the kubelet (/var/lib/kubelet/config.yaml, which only root may read)\n";

TEST(PlacementRules, WithoutTheKubeletsConfigurationSayThatItIsNotKnown) {
  const facts::Kubelet pinning{.cpu_manager = "static",
                               .topology_manager = {},
                               .topology_scope = {},
                               .memory_manager = {},
                               .reserved_cpus = {},
                               .taints = {}};
  const struct {
    const char* what;
    const char* file;
    std::optional<facts::Kubelet> kubelet;
    bool found;
    const char* open;
  } rows[] = {
      {"the bad twin", "RB-PLACE-003/bad.yaml", pinning, true, ""},
      {"no configuration", "RB-PLACE-003/bad.yaml", std::nullopt, false, kNotKnown},
      {"no configuration, part of a processor", "RB-PLACE-003/bad-fraction.yaml", std::nullopt, false, kNotKnown},
      {"no configuration, requests below limits", "RB-PLACE-003/bad-burstable.yaml", std::nullopt, false, kNotKnown},
      {"the kubelet's default policy gives none to any", "RB-PLACE-003/bad.yaml", facts::Kubelet{}, false, ""},
      {"no configuration, and right with each", "RB-PLACE-003/good.yaml", std::nullopt, false, ""},
      {"no configuration, and right with each, by limits", "RB-PLACE-003/good-limits.yaml", std::nullopt, false, ""},
  };
  for (const auto& row : rows) {
    const std::string text = placement_case(row.file);
    std::vector<facts::NodeFacts> nodes = testing_cases::facts_named_in(text);
    ASSERT_EQ(nodes.size(), 1U) << row.file;
    nodes.front().kubelet = row.kubelet;
    const Report report = placement_report(text, nodes);
    EXPECT_EQ(!placement_findings(report.findings).empty(), row.found) << row.what << "\n" << to_text(report);
    EXPECT_EQ(left_open(report), row.open) << row.what;
    EXPECT_EQ(report.findings.count(doc::Severity::kError), 0U) << row.what << "\n" << to_text(report);
  }
}

TEST(PlacementRules, WhatIsNotKnownIsInEachReportOnce) {
  const std::string text = placement_case("RB-PLACE-003/bad.yaml");
  std::vector<facts::NodeFacts> nodes = testing_cases::facts_named_in(text);
  nodes.front().kubelet.reset();
  Report report = placement_report(text, nodes);
  report.add(placement_report(text, nodes));
  EXPECT_EQ(left_open(report), kNotKnown);
  const std::string as_text = to_text(report);
  EXPECT_NE(as_text.find("not known: whether Pod ai/probe could have processors"), std::string::npos) << as_text;
  EXPECT_NE(as_text.find("only root may read) [RB-PLACE-003]\n"), std::string::npos) << as_text;
  // Two pods, one line.
  const std::string pod = text.substr(text.find("apiVersion: v1\nkind: Pod"));
  const std::string two = text + "---\n" + replaced_in(pod, "name: probe", "name: other");
  EXPECT_EQ(
      left_open(placement_report(two, nodes)),
      "RB-PLACE-003: whether Pod ai/probe, Pod ai/other could have processors of their own, which their limits rule "
      "out: the facts of modest have no configuration of the kubelet (/var/lib/kubelet/config.yaml, "
      "which only root may read)\n");
}

// A rule that is not asked leaves nothing open.
TEST(PlacementRules, AreNotKnownOnlyWhereTheyAreAsked) {
  const std::string text = placement_case("RB-PLACE-003/bad.yaml");
  std::vector<facts::NodeFacts> nodes = testing_cases::facts_named_in(text);
  nodes.front().kubelet.reset();
  Policy others;
  others.select = {"RB-RES"};
  EXPECT_EQ(left_open(placement_report(text, nodes, {.policy = &others})), "");
  Policy without;
  without.ignore = {"RB-PLACE-003"};
  EXPECT_EQ(left_open(placement_report(text, nodes, {.policy = &without})), "");
  Policy asked;
  asked.select = {"RB-PLACE"};
  EXPECT_EQ(left_open(placement_report(text, nodes, {.policy = &asked})), kNotKnown);
}

// As plan and up do: objects, catalog, a graph per node, rules.
struct Looked {
  doc::Diagnostics findings;
  std::vector<graph::PfWanted> pfs;
};

void look_as_plan(const std::string& text, const std::vector<facts::NodeFacts>& nodes, Looked& out) {
  doc::Diagnostics problems;
  const Bundle bundle = read_bundle({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, problems);
  std::vector<const doc::Value*> values;
  for (const Document& document : bundle.documents) values.push_back(&document.value);
  const api::Objects objects = api::load_documents(values, problems);
  const Settings settings;
  const graph::Catalog catalog = graph::index(objects, settings.graph, problems);
  std::vector<graph::Graph> graphs;
  for (const facts::NodeFacts& node : nodes) graphs.push_back(graph::resolve(catalog, node, problems));
  out.findings = rule_findings(bundle, objects, catalog, graphs, nodes, settings);
  out.pfs = graphs.front().pfs;
}

// `check` saw one taint, `plan` sees another: what counts is what is there when it looks, and the machine's part stays.
TEST(PlacementRules, GoByTheTaintsThatAreThereNow) {
  const std::string tainted = placement_case("RB-PLACE-001/bad.yaml");
  const std::string taint = "  taints:\n    - {key: dedicated, value: rdma, effect: NoSchedule}\n";
  const struct {
    const char* what;
    std::string text;
    bool found;
  } rows[] = {
      {"as it was", tainted, true},
      {"taken away", replaced_in(tainted, taint, ""), false},
      {"another effect", replaced_in(tainted, "effect: NoSchedule", "effect: PreferNoSchedule"), false},
      {"one that ends pods, too", replaced_in(tainted, "effect: NoSchedule", "effect: NoExecute"), true},
      {"the node is only cordoned",
       replaced_in(tainted, "key: dedicated, value: rdma", "key: node.kubernetes.io/unschedulable"), false},
      {"a Node object without a spec", replaced_in(tainted, "spec:\n  podCIDR: 10.128.4.0/24\n" + taint, ""), false},
  };
  const std::vector<facts::NodeFacts> nodes = testing_cases::facts_named_in(tainted);
  ASSERT_FALSE(nodes.empty());
  Looked before;
  look_as_plan(tainted, nodes, before);
  ASSERT_FALSE(before.pfs.empty());
  for (const auto& row : rows) {
    const std::string checked = placement_findings(placement_report(row.text, nodes).findings);
    EXPECT_EQ(checked.find("RB-PLACE-001") != std::string::npos, row.found) << row.what << "\n" << checked;
    Looked planned;
    look_as_plan(row.text, nodes, planned);
    EXPECT_EQ(placement_findings(planned.findings), checked) << row.what << ": plan says what check says";
    ASSERT_EQ(planned.pfs.size(), before.pfs.size()) << row.what;
    for (size_t i = 0; i < planned.pfs.size(); ++i) {
      EXPECT_EQ(planned.pfs[i].name, before.pfs[i].name) << row.what;
      EXPECT_EQ(planned.pfs[i].num_vfs, before.pfs[i].num_vfs) << row.what << ": a taint is nothing of the machine";
    }
  }
}

}  // namespace
}  // namespace railbed::check
