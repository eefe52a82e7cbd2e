// SPDX-License-Identifier: Apache-2.0
#include "check/read/outside.h"

#include <gtest/gtest.h>

#include "doc/yaml.h"

namespace railbed::check {
namespace {

doc::Value parsed(std::string text) {
  doc::Diagnostics found;
  auto documents = doc::parse_yaml(std::make_shared<const doc::Source>(doc::Source{"k", std::move(text)}), found);
  EXPECT_FALSE(found.has_errors());
  return std::move(documents.at(0));
}

TEST(Outside, WhatKustomizeFetchesIsRemote) {
  for (const char* path : {"https://example.com/a.yaml", "HTTP://example.com", "git@github.com:a/b", "git::https://a/b",
                           "ssh://a/b", "github.com/a/b?ref=main", "GitHub.com/a/b", "github.com:a/b", "gh:a/b",
                           "org-1@github.com:a/b", "../a?ref=main", "file:///etc/passwd", "example.com/a.git//sub",
                           "host/a.git", "dev.azure.com/a/_git/b", "key=https://a/b"})
    EXPECT_TRUE(is_remote(path)) << path;
  for (const char* path : {"policy.yaml", "../base", "./a b.yaml", "rails@2/net.yaml", "key=value.yaml", ""})
    EXPECT_FALSE(is_remote(path)) << path;
}

TEST(Outside, AnyPathOfAKustomizationMayBeOne) {
  for (const char* text : {"resources: [a.yaml, https://a/b]", "bases: [https://a/b]", "components: [https://a/b]",
                           "patches: [{path: https://a/b}]", "patchesStrategicMerge: [https://a/b]",
                           "configMapGenerator: [{name: a, files: [k=https://a/b]}]",
                           "secretGenerator: [{name: a, envs: [https://a/b]}]", "openapi: {path: https://a/b}",
                           "replacements: [{path: https://a/b}]", "transformers: [https://a/b]", "crds: [https://a/b]"})
    EXPECT_NE(remote_entry(parsed(text)), "") << text;
  EXPECT_EQ(remote_entry(parsed("resources: [a.yaml]\ncommonAnnotations: {page: https://a/b}\n"
                                "patches: [{path: a.yaml, patch: \"- op: add\\n  value: https://a/b\"}]\n"
                                "images: [{name: a, newName: registry/a}]\n")),
            "");
}

TEST(Outside, WhatExecutesProgramsIsNamed) {
  EXPECT_EQ(executed_entry(parsed("helmCharts: []")), "helmCharts");
  EXPECT_EQ(executed_entry(parsed("helmChartInflationGenerator: []")), "helmChartInflationGenerator");
  EXPECT_EQ(executed_entry(parsed("generators: [\"metadata: {annotations: {config.kubernetes.io/function: x}}\"]")),
            "generators");
  EXPECT_EQ(executed_entry(parsed("transformers: [t.yaml]\nresources: [a.yaml]")), "");
}

}  // namespace
}  // namespace railbed::check
