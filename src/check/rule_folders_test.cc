// SPDX-License-Identifier: Apache-2.0
// The folders testdata/check/<ID>: bad.yaml gives that rule's finding and no other, good.yaml gives nothing.
#include <algorithm>
#include <filesystem>

#include "api/load.h"
#include "check/families.h"
#include "check/lookups.h"
#include "doc/yaml.h"
#include "facts/fixture.h"

namespace railbed::check {
namespace {

namespace fs = std::filesystem;

Bundle read(const doc::SourcePtr& source) {
  Bundle bundle;
  bundle.sources.push_back(source);
  doc::Diagnostics problems;
  for (doc::Value& value : doc::parse_yaml(source, problems)) {
    Document document{.value = std::move(value)};
    document.kind = text_at(document.value, "kind");
    document.api_version = text_at(document.value, "apiVersion");
    document.name = text_at(document.value, "metadata.name");
    document.ns = text_at(document.value, "metadata.namespace");
    if (document.ns.empty()) document.ns = "default";
    bundle.documents.push_back(std::move(document));
  }
  EXPECT_EQ(doc::render(problems), "");
  return bundle;
}

std::vector<facts::NodeFacts> facts_named_in(const std::string& text) {
  std::vector<facts::NodeFacts> nodes;
  constexpr std::string_view kMark = "# facts: ";
  if (!text.starts_with(kMark)) return nodes;
  std::istringstream names(text.substr(kMark.size(), text.find('\n') - kMark.size()));
  for (std::string name; names >> name;) {
    const fs::path path = testdata() / "machines" / (name + ".machine");
    facts::NodeFacts node = facts::testing_fixture::facts_of(content(path));
    node.node = name;
    node.labels["kubernetes.io/hostname"] = name;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  for (const auto family :
       {address_rules(), resource_rules(), infiniband_rules(), rail_rules(), label_rules(), rdma_rules()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

doc::Diagnostics only(const doc::Diagnostic& one) {
  doc::Diagnostics out;
  (one.severity == doc::Severity::kError     ? out.error(one.id, one.span, one.message)
   : one.severity == doc::Severity::kWarning ? out.warning(one.id, one.span, one.message)
                                             : out.note(one.id, one.span, one.message)) = one;
  return out;
}

doc::Diagnostics check(const fs::path& path) {
  const auto source = std::make_shared<doc::Source>(doc::Source{path.filename(), content(path)});
  const Bundle bundle = read(source);
  const std::vector<PodTemplate> pods = find_pods(bundle);
  doc::Diagnostics out;
  const api::Objects objects = api::load(std::vector<doc::SourcePtr>{source}, out);
  Settings settings;
  for (const char* network : {"10.128.0.0/14", "172.30.0.0/16"})
    settings.cluster_networks.push_back(IpPrefix::parse(network).value());
  const graph::Catalog catalog = graph::index(objects, settings.graph, out);
  const std::vector<facts::NodeFacts> nodes = facts_named_in(source->text);
  std::vector<graph::Graph> graphs;
  for (const facts::NodeFacts& node : nodes) graphs.push_back(graph::resolve(catalog, node, out));
  graph::check_across(graphs, out);
  const Views views = make_views(bundle, pods, graphs, settings);
  const Input input{bundle, pods, objects, catalog, graphs, nodes, settings, views};
  for (const Rule& rule : rules()) {
    if (rule.needs == Needs::kFacts && nodes.empty()) continue;
    Findings findings(rule.id, out);
    rule.run(input, findings);
  }
  doc::Diagnostics kept;  // what plan says about pods that it cannot attach is no matter of the rules
  for (const doc::Diagnostic& one : out.all())
    if (one.id != "RB-API-009" && one.id != "RB-POD-005") kept.append(only(one));
  kept.sort();
  return kept;
}

TEST(RuleFolders, BadGivesTheRuleAndGoodNothing) {
  const fs::path root = testdata() / "check";
  for (const Rule& rule : rules()) {
    const fs::path folder = root / rule.id;
    ASSERT_TRUE(fs::exists(folder / "bad.yaml") || fs::exists(folder / "bad.md")) << folder;
    if (!fs::exists(folder / "bad.yaml")) continue;
    const doc::Diagnostics bad = check(folder / "bad.yaml");
    if (std::getenv("SHOW") != nullptr) fmt::print("{}\n", doc::render(bad));
    EXPECT_TRUE(std::ranges::any_of(bad.all(), [&](const auto& one) { return one.id == rule.id; }))
        << rule.id << " is silent";
    for (const doc::Diagnostic& one : bad.all()) EXPECT_EQ(one.id, rule.id) << doc::render(one);
    for (const auto& entry : fs::directory_iterator(folder)) {
      const bool good = entry.path().filename().string().starts_with("good");
      if (good && entry.path().extension() == ".yaml") {
        EXPECT_EQ(doc::render(check(entry.path())), "") << entry.path();
      }
    }
  }
}

}  // namespace
}  // namespace railbed::check
