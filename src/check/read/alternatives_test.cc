// SPDX-License-Identifier: Apache-2.0
#include "check/read/alternatives.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

std::string network_manifest(int vlan) {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: net, namespace: ops}\n"
         "spec: {resourceName: rail0, vlan: " +
         std::to_string(vlan) + "}\n";
}
constexpr const char* kPodManifest =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ops}\nspec: {containers: [{name: c}]}\n";
// It depends on the network.
constexpr const char* kUser =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: u, namespace: ops, annotations: {k8s.v1.cni.cncf.io/networks: net}}\n"
    "spec: {containers: [{name: c}]}\n";

using NamedFiles = std::vector<std::pair<std::string, std::string>>;
FileGroups grouped(const NamedFiles& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files) sources.push_back(std::make_shared<doc::Source>(doc::Source{name, text}));
  return group_alternatives(sources, {});
}
// The files of each group; those that are there for the sake of others in parentheses.
std::vector<std::string> names(const FileGroups& made) {
  std::vector<std::string> out;
  for (const SourceGroup& group : made.groups) {
    out.emplace_back();
    for (const auto& source : group.sources) {
      const bool other = !group.about.empty() && !group.about.contains(source->name);
      out.back() += (out.back().empty() ? "" : " ") + (other ? "(" + source->name + ")" : source->name);
    }
  }
  return out;
}
using Names = std::vector<std::string>;

TEST(Alternatives, FilesAreOneBundleUntilTheyContradictEachOther) {
  const FileGroups one = grouped({{"m/networks/a.yaml", network_manifest(1)}, {"m/pods/p.yaml", kPodManifest}});
  EXPECT_EQ(names(one), Names{"m/networks/a.yaml m/pods/p.yaml"});
  EXPECT_EQ(one.why, "");
  EXPECT_EQ(names(grouped({{"a/n.yaml", network_manifest(1)}, {"b/n.yaml", network_manifest(1)}})),
            Names{"a/n.yaml b/n.yaml"});

  const FileGroups two =
      grouped({{"x/a/n.yaml", network_manifest(1)}, {"x/b/n.yaml", network_manifest(2)}, {"x/a/p.yaml", kPodManifest}});
  EXPECT_EQ(names(two), (Names{"x/a/n.yaml x/a/p.yaml", "x/b/n.yaml"}));
  EXPECT_EQ(two.why, "SriovNetwork ops/net is given in x/a/n.yaml and differently in x/b/n.yaml");
  EXPECT_TRUE(two.notes.all().empty());
}

// The contradiction of two folders is no reason to leave the relations of others out.
TEST(Alternatives, OnlyWhatDependsOnAContradictionIsApart) {
  const FileGroups made = grouped({{"a/n.yaml", network_manifest(1)},
                                   {"b/n.yaml", network_manifest(2)},
                                   {"b/u.yaml", kUser},
                                   {"c/p.yaml", kPodManifest},
                                   {"d/other.yaml",
                                    "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\n"
                                    "metadata: {name: x, namespace: ops}\nspec: {resourceName: x}\n"}});
  EXPECT_EQ(names(made), (Names{"a/n.yaml c/p.yaml d/other.yaml", "b/n.yaml b/u.yaml (d/other.yaml)"}));
}

TEST(Alternatives, KindsThatAreNotKnownAreNoReason) {
  const auto application = [](const std::string& project) {
    return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {project: " + project +
           "}\n";
  };
  EXPECT_EQ(grouped({{"a/x.yaml", application("one")}, {"b/x.yaml", application("two")}}).groups.size(), 1u);
}

TEST(Alternatives, InOneFolderEachFileIsOneWithANote) {
  const FileGroups made =
      grouped({{"a/n.yaml", network_manifest(1)}, {"a/m.yaml", network_manifest(2)}, {"a/p.yaml", kPodManifest}});
  EXPECT_EQ(names(made), (Names{"a/n.yaml a/p.yaml", "a/m.yaml"}));
  ASSERT_EQ(made.notes.all().size(), 1u);
  EXPECT_TRUE(
      doc::render(made.notes)
          .starts_with(
              "a/m.yaml:3:18: note: SriovNetwork ops/net is given differently in a/n.yaml: nothing applies both files, so they "
              "are alternatives, each checked with everything"))
      << doc::render(made.notes);
}

TEST(Alternatives, PagesAreEachByThemselves) {
  const auto page = [](int vlan) { return "```yaml\n" + network_manifest(vlan) + "```\n"; };
  EXPECT_EQ(names(grouped({{"doc/a.md", page(1)}, {"doc/b.md", page(1)}, {"doc/p.yaml", kPodManifest}})),
            Names{"doc/a.md doc/b.md doc/p.yaml"});
  const FileGroups pages = grouped({{"doc/a.md", page(1)},
                                    {"doc/b.md", page(2)},
                                    {"doc/p.yaml", kPodManifest},
                                    {"other/q.yaml", network_manifest(1)}});
  EXPECT_EQ(names(pages), (Names{"doc/a.md doc/p.yaml other/q.yaml", "doc/b.md"}));
}

TEST(Alternatives, PatchesAreNoContradiction) {
  const std::string list =
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\n"
      "patches: [{path: vlan.yaml}]\n";
  const FileGroups made = grouped({{"base/n.yaml", network_manifest(1)},
                                   {"overlay/kustomization.yaml", list},
                                   {"overlay/vlan.yaml", network_manifest(2)}});
  EXPECT_EQ(made.groups.size(), 1u) << made.why;
}

// One apply takes both: that is a mistake, which is reported where the files are read.
TEST(Alternatives, WhatAKustomizationTakesIsNoAlternative) {
  const std::string list = "resources: [one.yaml, two.yaml]\n";
  const FileGroups made = grouped(
      {{"k/kustomization.yaml", list}, {"k/one.yaml", network_manifest(1)}, {"k/two.yaml", network_manifest(2)}});
  EXPECT_EQ(made.groups.size(), 1u) << made.why;
}

TEST(Alternatives, FilesOfTestDataAreEachByThemselves) {
  for (const char* folder : {"testdata", "test/fixtures", "golden", "e2e/x", "invalid"}) {
    const std::string in = folder;
    const FileGroups made = grouped({{in + "/a.yaml", network_manifest(1)}, {in + "/b.yaml", network_manifest(2)}});
    EXPECT_EQ(names(made), (Names{in + "/a.yaml", in + "/b.yaml"}));
    EXPECT_TRUE(made.notes.all().empty());
    EXPECT_EQ(grouped({{in + "/a.yaml", network_manifest(1)}, {in + "/b.yaml", network_manifest(1)}}).groups.size(),
              2u);
  }
}

// A device plugin's resources are there for all alternatives of its folder.
TEST(Alternatives, HaveTheConfigurationOfTheDevicePlugin) {
  const std::string map =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ops}\n"
      "data: {config.json: '{\"resourceList\": [{\"resourceName\": \"x\"}]}'}\n";
  const FileGroups made =
      grouped({{"x/a/n.yaml", network_manifest(1)}, {"x/b/n.yaml", network_manifest(2)}, {"plugin/m.yaml", map}});
  EXPECT_EQ(names(made), (Names{"x/a/n.yaml plugin/m.yaml", "x/b/n.yaml (plugin/m.yaml)"}));
  ASSERT_EQ(made.world.prefixes.size(), 1u);
  EXPECT_EQ(made.world.prefixes.front().prefix, "intel.com");
}

TEST(Alternatives, VersionsAreThoseOfOneFolder) {
  EXPECT_EQ(grouped({{"a/n.yaml", network_manifest(1)}, {"a/m.yaml", network_manifest(2)}}).world.versions,
            (std::set<std::string, std::less<>>{"a/m.yaml", "a/n.yaml"}));
  EXPECT_TRUE(grouped({{"a/n.yaml", network_manifest(1)}, {"b/n.yaml", network_manifest(2)}}).world.versions.empty());
}

TEST(Alternatives, KnowWhatTheOthersMake) {
  const FileGroups made = grouped({{"a/n.yaml", network_manifest(1)}, {"b/n.yaml", network_manifest(2)}});
  EXPECT_TRUE(made.world.networks.contains("net"));
  EXPECT_FALSE(made.world.resources.contains("rail0"));  // it takes VFs of it
  EXPECT_TRUE(made.world.objects.contains("SriovNetwork/net"));
}

// What RB-REF-001 and RB-POD-001 say of files that are checked as users give them, as "id line".
std::vector<std::string> absences(const std::string& text, const World& world) {
  Settings settings;
  settings.world = &world;
  const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, {}, settings);
  std::vector<std::string> out;
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == "RB-REF-001" || one.id == "RB-POD-001") out.push_back(fmt::format("{} {}", one.id, one.span.line));
  return out;
}

TEST(Alternatives, APoolOfAnotherGroupIsNotMissing) {
  const std::string text =
      "apiVersion: nv-ipam.nvidia.com/v1alpha1\nkind: IPPool\nmetadata: {name: other, namespace: ops}\n"
      "spec: {subnet: 192.168.0.0/16, perNodeBlockSize: 100, gateway: 192.168.0.1}\n---\n"
      "apiVersion: mellanox.com/v1alpha1\nkind: HostDeviceNetwork\nmetadata: {name: net}\nspec:\n"
      "  networkNamespace: default\n  resourceName: hostdev\n"
      "  ipam: '{\"type\": \"nv-ipam\", \"poolName\": \"my-pool\"}'\n";
  World world;
  EXPECT_EQ(absences(text, world), Names{"RB-REF-001 12"});
  world.objects = {"CIDRPool/my-pool", "IPPool/your-pool"};
  EXPECT_EQ(absences(text, world), Names{"RB-REF-001 12"}) << "of another kind or name";
  world.objects = {"IPPool/my-pool"};
  EXPECT_EQ(absences(text, world), Names());
}

// A file that belongs to two groups is checked twice.
TEST(Alternatives, WhatTwoGroupsFindIsSaidOnce) {
  const std::string user = std::string(kUser) +
                           "---\napiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: ops}\n"
                           "spec: {containers: [{name: c}], hostNetwork: \"yes\"}\n";
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] :
       NamedFiles{{"a/n.yaml", network_manifest(1)}, {"a/m.yaml", network_manifest(2)}, {"a/u.yaml", user}})
    sources.push_back(std::make_shared<doc::Source>(doc::Source{name, text}));
  size_t wrong = 0;
  for (const Report report = check_files(sources, {}, {}); const doc::Diagnostic& one : report.findings.all())
    wrong += one.id == "RB-API-004" ? 1 : 0;
  EXPECT_EQ(wrong, 1U);
}

}  // namespace
}  // namespace railbed::check
