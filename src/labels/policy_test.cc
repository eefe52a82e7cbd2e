// SPDX-License-Identifier: Apache-2.0
// The table of keys, the policies that limit agents to them, and the page about them say the same.
#include <filesystem>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/testdata.h"
#include "doc/yaml.h"
#include "labels/node_keys.h"
#include "labels/rails_ready.h"

namespace railbed::labels {
namespace {

std::filesystem::path in_tree(const char* file) {
  return testdata().parent_path() / file;
}

// A pattern of the table as a regular expression in a literal of CEL.
std::string regular_expression(std::string_view name) {
  std::string out = "^";
  for (const char c : name) {
    if (c == '*')
      out += "[0-9a-f]{4}";
    else if (c == '.')
      out += R"(\\.)";
    else
      out += c;
  }
  return out + "$";
}

// The list of the table's names in CEL: all of a kind, or the patterns among them.
std::string cel_list(KeyKind kind, bool are_patterns) {
  std::string out;
  for (const NodeKey& key : kNodeKeys) {
    if (key.kind != kind || key.name.contains('*') != are_patterns) continue;
    out += fmt::format("{}'{}'", out.empty() ? "" : ", ", are_patterns ? regular_expression(key.name) : key.name);
  }
  return "[" + out + "]";
}

std::vector<doc::Value> documents_of(const char* file) {
  doc::Diagnostics diagnostics;
  const auto source = std::make_shared<doc::Source>(doc::Source{.name = file, .text = content(in_tree(file))});
  std::vector<doc::Value> out = doc::parse_yaml(source, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << doc::render(diagnostics);
  return out;
}

// The expression of a variable of a policy; empty where there is none.
std::string variable(const doc::Value& policy, std::string_view name) {
  const doc::Value* const variables = policy.find("spec")->find("variables");
  if (variables == nullptr) return "";
  for (const doc::Value& one : *variables->as_array())
    if (*one.find("name")->as_string() == name) return *one.find("expression")->as_string();
  return "";
}

TEST(PolicyOfLabels, LimitsAgentsToTheTable) {
  std::vector<std::string> policies;
  for (const doc::Value& one : documents_of("deploy/sharing/node-labels.yaml")) {
    if (*one.find("kind")->as_string() != "ValidatingAdmissionPolicy") continue;
    const std::string& name = *one.find("metadata")->find("name")->as_string();
    policies.push_back(name);
    EXPECT_EQ(variable(one, "own_labels"), cel_list(KeyKind::kLabel, false)) << name;
    EXPECT_EQ(variable(one, "own_patterns"), cel_list(KeyKind::kLabel, true)) << name;
    if (name == "railbed-agent-nodes") {
      EXPECT_EQ(variable(one, "own_annotations"), cel_list(KeyKind::kAnnotation, false));
      for (const char* conditions : {"others_conditions", "others_conditions_before"})
        EXPECT_TRUE(variable(one, conditions).contains(fmt::format("one.type != '{}'", kRailsReadyCondition)));
    }
  }
  EXPECT_EQ(policies, (std::vector<std::string>{"railbed-agent-nodes", "railbed-agent-node-features"}));
}

TEST(PolicyOfLabels, NoRightComesWithoutItsPolicy) {
  std::set<std::string> bound;
  for (const doc::Value& one : documents_of("deploy/sharing/node-labels.yaml"))
    if (*one.find("kind")->as_string() == "ValidatingAdmissionPolicyBinding")
      bound.insert(*one.find("spec")->find("policyName")->as_string());
  EXPECT_EQ(bound, (std::set<std::string>{"railbed-agent-nodes", "railbed-agent-node-features"}));
  EXPECT_FALSE(content(in_tree("deploy/kustomization.yaml")).contains("node-labels.yaml"))
      << "for Kubernetes 1.30 and later only";
}

TEST(PageOfLabels, HasARowForEachKey) {
  const std::string page = content(in_tree("docs/labels.md"));
  for (const NodeKey& key : kNodeKeys) {
    const std::string row = fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.values,
                                        key.elsewhere.empty() ? "no one" : key.elsewhere, key.why);
    EXPECT_TRUE(page.contains(row)) << "docs/labels.md lacks the row\n" << row;
  }
  EXPECT_TRUE(page.contains(fmt::format("`{}`", kRailsReadyCondition)));
  EXPECT_TRUE(page.contains(fmt::format("`{}`", kStartTaint)));
}

}  // namespace
}  // namespace railbed::labels
