// SPDX-License-Identifier: Apache-2.0
// The rules find the same in objects of an API server, which have no text, as in the manifests that made them.
#include <gtest/gtest.h>

#include "api/load.h"
#include "check/case_files.h"
#include "check/read/objects.h"
#include "doc/json.h"

namespace railbed::check {
namespace {

using doc::Value;

std::vector<const Value*> values_of(const Bundle& bundle) {
  std::vector<const Value*> values;
  for (const Document& document : bundle.documents) values.push_back(&document.value);
  return values;
}

// As plan, up and an operator do: objects, catalog, a graph per node, rules.
doc::Diagnostics findings_of(const Bundle& bundle, const std::vector<facts::NodeFacts>& nodes) {
  doc::Diagnostics reported_elsewhere;
  const Settings settings{.cluster_networks = {IpPrefix::parse("10.128.0.0/14").value()}};
  const api::Objects objects = api::load_documents(values_of(bundle), reported_elsewhere);
  const graph::Catalog catalog = graph::index(objects, settings.graph, reported_elsewhere);
  std::vector<graph::Graph> graphs;
  for (const facts::NodeFacts& node : nodes) graphs.push_back(graph::resolve(catalog, node, reported_elsewhere));
  return rule_findings(bundle, objects, catalog, graphs, nodes, settings);
}

// The objects of a bundle as an API server gives them: as JSON, without places.
Bundle without_text(const Bundle& bundle) {
  std::vector<Value> objects;
  for (const Document& document : bundle.documents) {
    doc::Diagnostics problems;
    const auto json = std::make_shared<doc::Source>(doc::Source{"", doc::to_json(document.value)});
    objects.push_back(doc::parse_json(json, problems).value());
  }
  return bundle_of(std::move(objects));
}

// Rules about what stands beside objects: commands, their output, prose.
bool is_about_texts(const Bundle& bundle) {
  return !bundle.commands.empty() || !bundle.prose.empty();
}

std::string ids(const doc::Diagnostics& findings) {
  std::map<std::string, int> count;
  for (const doc::Diagnostic& finding : findings.all()) ++count[finding.id];
  std::string out;
  for (const auto& [id, number] : count) out += fmt::format("{} {}\n", id, number);
  return out;
}

// Commands and their output, words of a page, and what is compared with them.
bool needs_text(const Rule& rule) {
  static constexpr std::string_view kOthers[] = {"RB-DOC-004", "RB-MTU-007", "RB-RDMA-006"};
  return rule.id.starts_with("RB-CMD-") || rule.id.starts_with("RB-OUT-") ||
         std::ranges::find(kOthers, rule.id) != std::end(kOthers);
}

TEST(RuleFindings, ObjectsWithoutTextGiveTheSameIds) {
  std::set<std::string> given;
  for (const auto& path : testing_cases::files_in(testdata() / "check")) {
    if (path.extension() != ".yaml" && path.extension() != ".yml" && path.extension() != ".json") continue;
    const std::string text = content(path);
    doc::Diagnostics problems;
    const Bundle bundle = read_bundle({std::make_shared<doc::Source>(doc::Source{path.filename(), text})}, problems);
    if (is_about_texts(bundle)) continue;
    const auto nodes = testing_cases::facts_named_in(text);
    const doc::Diagnostics with = findings_of(bundle, nodes);
    const Bundle objects = without_text(bundle);
    const doc::Diagnostics without = findings_of(objects, nodes);
    EXPECT_EQ(ids(with), ids(without)) << path;
    for (const doc::Diagnostic& finding : without.all()) {
      given.insert(finding.id);
      EXPECT_FALSE(finding.span.known()) << path << doc::render(finding);
      EXPECT_NE(finding.subject.kind, "") << path << doc::render(finding);
    }
  }
  for (const Rule& rule : all_rules()) EXPECT_NE(given.contains(std::string(rule.id)), needs_text(rule)) << rule.id;
}

TEST(RuleFindings, NameObjectAndFieldInsteadOfALine) {
  const std::string text =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
      "metadata: {name: rail0, namespace: ops}\n"
      "spec:\n  resourceName: rail0\n  numVfs: 8\n  nodeSelector: {a: b}\n"
      "  nicSelector: {vendor: \"15b3\", deviceID: \"101e\"}\n";
  doc::Diagnostics problems;
  const Bundle bundle = read_bundle({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, problems);
  const doc::Diagnostics findings = findings_of(without_text(bundle), {});
  const auto found = std::ranges::find(findings.all(), "RB-RDMA-007", &doc::Diagnostic::id);
  ASSERT_NE(found, findings.all().end()) << doc::render(findings);
  EXPECT_EQ(found->subject.kind, "SriovNetworkNodePolicy");
  EXPECT_EQ(found->subject.object, "ops/rail0");
  EXPECT_EQ(found->subject.field, "spec.nicSelector.deviceID");
  EXPECT_TRUE(doc::render(*found).starts_with(
      "SriovNetworkNodePolicy ops/rail0: spec.nicSelector.deviceID: error: 101e is the id of VFs"))
      << doc::render(*found);
}

// A run over objects without text has the findings of schemas and of rules, judged.
TEST(ObjectFindings, HaveFieldsAndConfidence) {
  const auto object = [](std::string_view spec) {
    doc::Diagnostics problems;
    const std::string text = fmt::format(
        R"({{"apiVersion":"sriovnetwork.openshift.io/v1","kind":"SriovNetworkNodePolicy",
        "metadata":{{"name":"rail0","namespace":"ops"}},"spec":{{"resourceName":"rail0","nodeSelector":{{"a":"b"}},{}}}}})",
        spec);
    return doc::parse_json(std::make_shared<doc::Source>(doc::Source{"", text}), problems).value();
  };
  const struct {
    std::string_view spec;
    std::string_view id;
    std::string_view field;
  } kCases[] = {
      {R"("numVfs":8,"nicSelector":{"vendor":"15b3","deviceID":"101e"})", "RB-RDMA-007", "spec.nicSelector.deviceID"},
      {R"("numVfs":8,"mtu":"x","nicSelector":{"vendor":"15b3"})", "RB-API-004", "spec.mtu"},
  };
  for (const auto& one : kCases) {
    const doc::Diagnostics findings = object_findings(bundle_of({object(one.spec)}), {}, {});
    const auto found = std::ranges::find(findings.all(), one.id, &doc::Diagnostic::id);
    ASSERT_NE(found, findings.all().end()) << doc::render(findings);
    EXPECT_EQ(found->subject.field, one.field);
    EXPECT_EQ(found->severity, doc::Severity::kError);
    EXPECT_EQ(found->confidence, doc::Confidence::kHigh);
  }
}

}  // namespace
}  // namespace railbed::check
