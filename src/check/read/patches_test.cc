// SPDX-License-Identifier: Apache-2.0
#include "check/read/patches.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::vector<doc::SourcePtr> sources_of(const Files& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files) sources.push_back(std::make_shared<doc::Source>(doc::Source{name, text}));
  return sources;
}

std::set<std::string> patches_of(const Files& files) {
  doc::Diagnostics problems;
  std::set<std::string> names;
  for (const auto& [name, kustomization] : patch_files(read_bundle(sources_of(files), problems))) names.insert(name);
  return names;
}

// A policy in which nicSelector, nodeSelector and more are missing.
const std::string kPart =
    "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata:\n  name: rail0\n"
    "spec:\n  numVfs: 16\n";

int missing_in(const Files& files) {
  int missing = 0;
  const Report report = check(sources_of(files), {}, {});
  for (const doc::Diagnostic& finding : report.findings.all()) missing += finding.id == "RB-API-006" ? 1 : 0;
  return missing;
}

TEST(Patches, AreWhatAKustomizationLists) {
  const std::string kind = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
  struct Case {
    std::string about, file, text;
    std::set<std::string> patches;
  };
  const Case cases[] = {
      {"patches by path",
       "o/kustomization.yaml",
       kind + "patches:\n- path: vfs.yaml\n- {path: ./mtu.yaml}\n",
       {"o/vfs.yaml", "o/mtu.yaml"}},
      {"patches of an older version",
       "o/kustomization.yaml",
       kind + "patchesStrategicMerge: [vfs.yaml, ../base/p.yaml]\n",
       {"o/vfs.yaml", "base/p.yaml"}},
      {"patches in JSON", "o/kustomization.yaml", kind + "patchesJson6902:\n- path: mtu.yaml\n", {"o/mtu.yaml"}},
      {"known by its name alone", "o/kustomization.yml", "patches: [{path: vfs.yaml}]\n", {"o/vfs.yaml"}},
      {"known by its kind alone", "o/all.yaml", kind + "patches: [{path: vfs.yaml}]\n", {"o/vfs.yaml"}},
      {"resources are whole", "o/kustomization.yaml", kind + "resources: [vfs.yaml]\n", {}},
      {"a patch in the list itself", "o/kustomization.yaml", kind + "patches:\n- patch: |-\n    kind: Pod\n", {}},
      {"somebody else's file", "o/other.yaml", "patches: [{path: vfs.yaml}]\n", {}},
      {"a file that is not there", "o/kustomization.yaml", kind + "patches: [{path: none.yaml}]\n", {}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(patches_of({{c.file, c.text}, {"o/vfs.yaml", kPart}, {"o/mtu.yaml", kPart}, {"base/p.yaml", kPart}}),
              c.patches)
        << c.about;
}

TEST(Patches, NothingIsMissingInThem) {
  const std::string list =
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{path: p.yaml}]\n";
  EXPECT_GT(missing_in({{"p.yaml", kPart}}), 0);
  EXPECT_EQ(missing_in({{"p.yaml", kPart}, {"kustomization.yaml", list}}), 0);
  EXPECT_EQ(missing_in({{"p.yaml", kPart + "  $patch: replace\n"}}), 0);
  EXPECT_GT(missing_in({{"p.yaml", kPart}, {"other/kustomization.yaml", list}}), 0);
}

// A base whose spec its overlay supplies.
TEST(Patches, MakeABaseWithoutASpecAPart) {
  const std::string head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [base.yaml]\n";
  const std::string bare = kPart.substr(0, kPart.find("  numVfs"));
  const std::string other =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
      "metadata:\n  name: rail1\nspec:\n  numVfs: 16\n";
  EXPECT_GT(missing_in({{"base.yaml", bare}}), 0);
  EXPECT_GT(missing_in({{"base.yaml", bare}, {"kustomization.yaml", head}}), 0);
  EXPECT_GT(missing_in(
                {{"base.yaml", bare}, {"p.yaml", other}, {"kustomization.yaml", head + "patches: [{path: p.yaml}]\n"}}),
            0)
      << "a patch of another object";
  for (const std::string list : {"patchesStrategicMerge: [p.yaml]\n", "patches: [{path: p.yaml}]\n",
                                 "patches:\n- path: p.yaml\n  target: {kind: SriovNetworkNodePolicy}\n"})
    EXPECT_EQ(missing_in({{"base.yaml", bare}, {"p.yaml", kPart}, {"kustomization.yaml", head + list}}), 0) << list;
  EXPECT_EQ(
      missing_in({{"base.yaml", bare},
                  {"p.yaml", kPart},
                  {"kustomization.yaml", head + "components: [comp]\n"},
                  {"comp/kustomization.yaml",
                   "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: ../p.yaml}]\n"}}),
      0);
}

TEST(Patches, BearTheNameOfTheObjectThatTheyChange) {
  const std::string list =
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{path: p.yaml}]\n";
  const std::string whole =
      kPart + "  nicSelector: {vendor: \"15b3\"}\n  nodeSelector: {a: b}\n  resourceName: rail0\n";
  const auto given_twice = [](const Files& files) {
    const Report report = check(sources_of(files), {}, {});
    return std::ranges::any_of(report.findings.all(), [](const auto& one) { return one.id == "RB-API-012"; });
  };
  EXPECT_TRUE(given_twice({{"base.yaml", whole}, {"p.yaml", kPart}}));
  EXPECT_FALSE(given_twice({{"base.yaml", whole}, {"p.yaml", kPart}, {"kustomization.yaml", list}}));
  EXPECT_FALSE(given_twice({{"p.yaml", kPart}, {"qbase.yaml", whole}, {"kustomization.yaml", list}}));
}

TEST(Patches, DirectivesAreNoUnknownFields) {
  const auto sources = sources_of({{"p.yaml", kPart + "  $patch: replace\n  $setElementOrder/a: [b]\n  $path: x\n"}});
  const Report report = check(sources, {}, {});
  ASSERT_EQ(report.findings.all().size(), 1u) << doc::render(report.findings);
  EXPECT_EQ(report.findings.all()[0].subject.field, "spec.$path");
}

// Its name makes no patch: before, a finding of every file with "patch" in its name was lost.
TEST(Patches, AFileOfThatNameIsLookedAtLikeOthers) {
  EXPECT_GT(missing_in({{"patch-panel-3.yaml", kPart}}), 0);
}

TEST(Patches, ADirectiveMayStandAnywhere) {
  doc::Diagnostics problems;
  const auto value = [&](const std::string& text) {
    return read_bundle(sources_of({{"a.yaml", "kind: Pod\n" + text}}), problems).documents.at(0).value;
  };
  EXPECT_TRUE(has_merge_directive(value("spec:\n  containers:\n  - {name: a, $patch: delete}\n")));
  EXPECT_TRUE(has_merge_directive(value("spec: {$setElementOrder/containers: []}\n")));
  EXPECT_FALSE(has_merge_directive(value("spec: {patch: delete, $other: 1}\n")));
}

}  // namespace
}  // namespace railbed::check
