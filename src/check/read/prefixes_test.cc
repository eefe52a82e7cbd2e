// SPDX-License-Identifier: Apache-2.0
#include "check/read/prefixes.h"

#include <gtest/gtest.h>

namespace railbed::check {
namespace {

using SignTexts = std::vector<std::pair<std::string, std::string>>;

Bundle bundle_of_texts(const SignTexts& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  doc::Diagnostics reported_elsewhere;
  return read_bundle(sources, reported_elsewhere);
}

// "prefix" of each sign, "prefix (plugin)" of a device plugin's.
std::vector<std::string> signs_in(const std::string& name, const std::string& text) {
  std::vector<std::string> out;
  for (const PrefixSign& sign : prefix_signs(bundle_of_texts({{name, text}})))
    out.push_back(sign.prefix + (sign.by == PrefixSign::By::kPlugin ? " (plugin)" : ""));
  return out;
}
using SignsFound = std::vector<std::string>;

std::string config_map_with(const std::string& list) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  config.json: '{\"resourceList\": [" + list +
         "]}'\n";
}

TEST(Prefixes, AreReadWhereOperatorsAndPluginsHaveThem) {
  const std::string release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec: ";
  const std::string application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: ";
  struct Row {
    const char* name;
    std::string text;
    SignsFound signs;
  };
  const Row rows[] = {
      {"values.yaml", "sriov:\n  operator:\n    resourcePrefix: nvidia.com\n", {"nvidia.com"}},
      {"values.yaml", "resourcePrefix: nvidia.com\n", {}},
      {"values.yaml", "operator: {resourcePrefix: \"{{ .x }}\"}\n", {}},
      {"r.yaml", release + "{values: {operator: {resourcePrefix: example.org}}}\n", {"example.org"}},
      {"a.yaml",
       application + "{source: {helm: {values: \"operator:\\n  resourcePrefix: 'nvidia.com'\\n\"}}}\n",
       {"nvidia.com"}},
      {"a.yaml",
       application + "{source: {helm: {parameters: [{name: operator.resourcePrefix, value: nvidia.com}]}}}\n",
       {"nvidia.com"}},
      {"run.sh", "#!/bin/sh\nhelm install x y --set operator.resourcePrefix=nvidia.com\n", {"nvidia.com"}},
      {"run.sh", "#!/bin/sh\nhelm install x y --set operator.resourcePrefix=$PREFIX\n", {}},
      {"m.yaml",
       config_map_with("{\"resourceName\": \"a\", \"resourcePrefix\": \"nvidia.com\"}"),
       {"nvidia.com (plugin)"}},
      {"m.yaml", config_map_with("{\"resourceName\": \"a\"}"), {"intel.com (plugin)"}},
      {"p.yaml",
       "apiVersion: spiderpool.spidernet.io/v2beta1\nkind: SpiderIPPool\nmetadata: {name: p}\n",
       {"spidernet.io"}},
  };
  for (const Row& row : rows) EXPECT_EQ(signs_in(row.name, row.text), row.signs) << row.text;
}

TEST(Prefixes, HoldForTheFilesBelowAndTheNearestWins) {
  const std::vector<PrefixSign> signs = {{PrefixSign::By::kOperator, "root.io", "install.sh"},
                                         {PrefixSign::By::kOperator, "a.io", "a/values.yaml"},
                                         {PrefixSign::By::kOperator, "two.io", "b/one.yaml"},
                                         {PrefixSign::By::kOperator, "three.io", "b/two.yaml"},
                                         {PrefixSign::By::kPlugin, "plugin.io", "a/map.yaml"}};
  const auto prefix_at = [&](std::string_view file) {
    return operators_prefix(signs, file, Kustomizations()).value_or("-");
  };
  EXPECT_EQ(prefix_at("p.yaml"), "root.io");
  EXPECT_EQ(prefix_at("a/p.yaml"), "a.io");
  EXPECT_EQ(prefix_at("a/x/p.yaml"), "a.io");
  EXPECT_EQ(prefix_at("c/p.yaml"), "root.io");
  EXPECT_EQ(prefix_at("b/p.yaml"), "-") << "two say different things";
  EXPECT_EQ(prefix_at("b/two.yaml"), "three.io");
  EXPECT_EQ(prefix_at("ax/p.yaml"), "root.io");
  EXPECT_EQ(prefix_at("/other/p.yaml"), "-");
}

}  // namespace
}  // namespace railbed::check
