// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "check/read/folders.h"

namespace railbed::check {
namespace {

std::string network(int vlan) {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: net, namespace: ops}\n"
         "spec: {resourceName: rail0, vlan: " +
         std::to_string(vlan) + "}\n";
}
std::vector<doc::SourcePtr> sources(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<doc::SourcePtr> out;
  for (const auto& [name, text] : files) out.push_back(std::make_shared<doc::Source>(doc::Source{name, text}));
  return out;
}
std::vector<std::vector<std::string>> names(const FileGroups& made) {
  std::vector<std::vector<std::string>> out;
  for (const auto& group : made.groups) {
    out.emplace_back();
    for (const auto& source : group) out.back().push_back(source->name);
  }
  return out;
}
using Names = std::vector<std::vector<std::string>>;

TEST(Folders, AreOneBundleUntilTheyContradictEachOther) {
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
  const auto one = group_by_folder(sources({{"m/networks/a.yaml", network(1)}, {"m/pods/p.yaml", pod}}));
  EXPECT_EQ(names(one), (Names{{"m/networks/a.yaml", "m/pods/p.yaml"}}));
  EXPECT_EQ(one.why, "");
  const auto same = group_by_folder(sources({{"a/n.yaml", network(1)}, {"b/n.yaml", network(1)}}));
  EXPECT_EQ(same.groups.size(), 1u);
  const auto one_folder = group_by_folder(sources({{"a/n.yaml", network(1)}, {"a/m.yaml", network(2)}}));
  EXPECT_EQ(one_folder.groups.size(), 1u) << "a mistake, which is told";

  const auto two =
      group_by_folder(sources({{"x/a/n.yaml", network(1)}, {"x/b/n.yaml", network(2)}, {"x/a/p.yaml", pod}}));
  EXPECT_EQ(names(two), (Names{{"x/a/n.yaml", "x/a/p.yaml"}, {"x/b/n.yaml"}}));
  EXPECT_EQ(two.why, "SriovNetwork ops/net is given in x/a and differently in x/b");
}

TEST(Folders, PagesThatContradictEachOtherAreEachABundle) {
  const auto page = [](int vlan) { return "```yaml\n" + network(vlan) + "```\n"; };
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
  const auto one = group_by_folder(sources({{"doc/a.md", page(1)}, {"doc/b.md", page(1)}, {"doc/p.yaml", pod}}));
  EXPECT_EQ(names(one), (Names{{"doc/a.md", "doc/b.md", "doc/p.yaml"}}));
  const auto pages = group_by_folder(
      sources({{"doc/a.md", page(1)}, {"doc/b.md", page(2)}, {"doc/p.yaml", pod}, {"other/q.yaml", network(1)}}));
  EXPECT_EQ(names(pages), (Names{{"doc/a.md"}, {"doc/b.md"}, {"doc/p.yaml", "other/q.yaml"}}));
  EXPECT_EQ(pages.why, "SriovNetwork ops/net is given in doc/a.md and differently in doc/b.md");
  const auto both = group_by_folder(
      sources({{"doc/a.md", page(1)}, {"doc/b.md", page(2)}, {"x/a/n.yaml", network(1)}, {"x/b/n.yaml", network(2)}}));
  EXPECT_EQ(names(both), (Names{{"doc/a.md"}, {"doc/b.md"}, {"x/a/n.yaml"}, {"x/b/n.yaml"}}));
}

TEST(Folders, PatchesAreNoContradiction) {
  const std::string list =
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\n"
      "patches: [{path: vlan.yaml}]\n";
  const auto made = group_by_folder(
      sources({{"base/n.yaml", network(1)}, {"overlay/kustomization.yaml", list}, {"overlay/vlan.yaml", network(2)}}));
  EXPECT_EQ(made.groups.size(), 1u) << made.why;
}

// What a kustomization lists belongs with it, also from another folder.
TEST(Folders, APatchBelongsToItsKustomization) {
  const std::string list = "patches: [{path: patches/vlan.yaml}]\n";
  const auto made = group_by_folder(sources({{"o/kustomization.yaml", list},
                                             {"o/patches/vlan.yaml", network(3)},
                                             {"x/a/n.yaml", network(1)},
                                             {"x/b/n.yaml", network(2)}}));
  EXPECT_EQ(names(made), (Names{{"o/kustomization.yaml", "o/patches/vlan.yaml"}, {"x/a/n.yaml"}, {"x/b/n.yaml"}}));
}

// Inputs of somebody's tests, and a collection with one object in three versions: nobody applies all of them.
TEST(Folders, FilesOfACollectionAreEachABundle) {
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
  const auto data = group_by_folder(sources({{"t/testdata/x/a.yaml", network(1)},
                                             {"t/testdata/x/b.yaml", network(2)},
                                             {"m/p.yaml", pod},
                                             {"n/q.yaml", pod}}));
  EXPECT_EQ(names(data), (Names{{"t/testdata/x/a.yaml"}, {"t/testdata/x/b.yaml"}, {"m/p.yaml", "n/q.yaml"}}));
  EXPECT_EQ(data.why, "SriovNetwork ops/net is given in t/testdata/x/a.yaml and differently in t/testdata/x/b.yaml");
  const auto equal = group_by_folder(sources({{"testdata/a.yaml", network(1)}, {"testdata/b.yaml", network(1)}}));
  EXPECT_EQ(equal.why, "SriovNetwork ops/net is given in testdata/a.yaml and again in testdata/b.yaml");
  EXPECT_EQ(equal.groups.size(), 2u);
  const auto three = group_by_folder(sources({{"crs/1.yaml", network(1)},
                                              {"crs/2.yaml", network(2)},
                                              {"crs/3.yaml", network(3)},
                                              {"crs/p.yaml", pod},
                                              {"m/p.yaml", pod},
                                              {"n/n.yaml", pod}}));
  EXPECT_EQ(names(three),
            (Names{{"crs/1.yaml"}, {"crs/2.yaml"}, {"crs/3.yaml"}, {"crs/p.yaml"}, {"m/p.yaml", "n/n.yaml"}}));
  const auto folders = group_by_folder(sources({{"crs/1.yaml", network(1)},
                                                {"crs/2.yaml", network(2)},
                                                {"crs/3.yaml", network(3)},
                                                {"m/p.yaml", pod},
                                                {"n/n.yaml", network(5)},
                                                {"n/p.yaml", pod}}));
  EXPECT_EQ(names(folders),
            (Names{{"crs/1.yaml"}, {"crs/2.yaml"}, {"crs/3.yaml"}, {"m/p.yaml"}, {"n/n.yaml", "n/p.yaml"}}));
  EXPECT_EQ(group_by_folder(sources({{"testdata/a.yaml", network(1)}, {"testdata/p.yaml", pod}})).groups.size(), 1u);
}

}  // namespace
}  // namespace railbed::check
