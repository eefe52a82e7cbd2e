// SPDX-License-Identifier: Apache-2.0
// What other people's files look like that are no mistakes: each case is a class of findings that were false over
// public repositories (docs/check.md), in the fewest lines. Beside it is what has to be reported anyway.
#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// "id place" of each error and warning.
std::vector<std::string> reported(const NamedTexts& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  std::vector<std::string> out;
  const Report report = check(sources, {}, {});
  for (const doc::Diagnostic& finding : report.findings.all())
    if (finding.severity != doc::Severity::kNote)
      out.push_back(fmt::format("{} {}:{}", finding.id, finding.span.source->name, finding.span.line));
  return out;
}
using Reported = std::vector<std::string>;

std::string note_of(const std::string& name, const std::string& text) {
  const Report report = check({std::make_shared<const doc::Source>(doc::Source{name, text})}, {}, {});
  return report.findings.all().size() == 1 ? report.findings.all().front().message : doc::render(report.findings);
}

constexpr const char* kPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c";

// A tutorial creates its pod once with one network, later with two.
TEST(PublicFiles, CommandsOfAPageShowAlternatives) {
  const auto create = [](const std::string& image) {
    return "```\ncat <<EOF | kubectl create -f -\n" + (kPod + (", image: " + image + "}]}\nEOF\n```\n\n"));
  };
  EXPECT_EQ(reported({{"a.md", create("one") + "More:\n\n" + create("two")}}), Reported());
  // In two files they are alternatives, in one they are a mistake.
  EXPECT_EQ(reported({{"a.yaml", std::string(kPod) + "}]}\n"}, {"b.yaml", std::string(kPod) + ", image: i}]}\n"}}),
            Reported());
  EXPECT_EQ(reported({{"a.yaml", std::string(kPod) + "}]}\n---\n" + kPod + ", image: i}]}\n"}}),
            Reported{"RB-API-012 a.yaml:8"});
}

// What `kubectl get -o yaml` printed, cut by the author.
TEST(PublicFiles, InAnObjectOfTheServerOnAPageNothingIsMissing) {
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata:\n  labels: {a: b}\n";
  const auto page = [](const std::string& text) { return "```yaml\n" + text + "```\n"; };
  EXPECT_EQ(reported({{"a.md", page(node + "  creationTimestamp: \"2022-08-29T09:12:55Z\"\n")}}), Reported());
  EXPECT_EQ(reported({{"a.md", page(node + "status: {phase: x}\n")}}), Reported());
  EXPECT_EQ(reported({{"a.md", page(node)}}), Reported{"RB-API-006 a.md:5"});
  EXPECT_EQ(reported({{"a.yaml", node + "  creationTimestamp: null\n"}}), Reported{"RB-API-006 a.yaml:4"});
}

TEST(PublicFiles, AFileThatIsNoManifestGetsANote) {
  EXPECT_EQ(note_of("bad.json", "This is garbage"), "not read: not a manifest, and not valid YAML or JSON");
  EXPECT_EQ(note_of("output.yaml", "ubuntu@ip-10-2:~/cmg$ kubectl describe pod a\nName:   a\nspec:  b\nStatus: c\n"),
            "not read: output of a command, not a manifest");
  EXPECT_EQ(
      reported({{"a.json", "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"a\"},}"}}),
      Reported{"RB-JSON-001 a.json:1"});
}

// Test data of others, which a script fills in by sed.
TEST(PublicFiles, MarkedNamesAreFilledInLater) {
  EXPECT_EQ(note_of("calico.yaml", std::string(kPod) + ", image: \"<<REPO>>/calico/cni:<<CALICO_VERSION>>\"}]}\n"),
            "values from here on are filled in by sed and are not checked");
  EXPECT_EQ(reported({{"a.yaml", std::string(kPod) + ", image: \"<YOUR_IMAGE>\"}]}\n"}}),
            Reported{"RB-API-008 a.yaml:4"});
}

TEST(PublicFiles, AScriptInABlockOfYamlIsAScript) {
  const std::string script = "NAME=\"a: b\"\ncat <<EOF | kubectl apply -f -\n" + (kPod + std::string("}]}\nEOF\n"));
  EXPECT_EQ(reported({{"a.md", "```yaml\n" + script + "```\n"}}), Reported());
  EXPECT_EQ(reported({{"a.md", "```yaml\n" + script + "```\n\n```yaml\nkind: Pod\nmetadata: [\n```\n"}}),
            Reported{"RB-YAML-001 a.md:14"});
}

// `kubectl patch --patch-file`.
TEST(PublicFiles, APatchHasNoKind) {
  const std::string patch = "metadata:\n  annotations: {a: b}\n";
  EXPECT_EQ(reported({{"m/ns1-pool-patch.yaml", patch}}), Reported());
  EXPECT_EQ(reported({{"m/pool.yaml", patch}}), Reported());
  EXPECT_EQ(reported({{"m/pool.yaml", "apiVersion: apps/v1\n" + patch + "spec: {}\n"}}),
            Reported{"RB-API-010 m/pool.yaml:1"});
}

// Two pages of values, of which only the lines in question are shown.
TEST(PublicFiles, TextsThatLeaveLinesOutDoNotDiffer) {
  const auto map = [](const std::string& line) {
    return "    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: c}\n    data:\n      conf.yml: |\n        ...\n        " +
           line + "\n        ...\n\n";
  };
  EXPECT_EQ(reported({{"a.md", "One:\n\n" + map("a: 1") + "Two:\n\n" + map("b: 2")}}), Reported());
}

// An overlay changes a policy of its base.
TEST(PublicFiles, APatchIsNoSecondDefinition) {
  const auto policy = [](const std::string& spec) {
    return "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\nmetadata: {name: nic-cluster-policy}\nspec: {" +
           spec + "}\n";
  };
  const NamedTexts files = {{"base/nic.yaml", policy("nodeAffinity: {}")},
                            {"o/kustomization.yaml", "resources: [../base]\npatches: [{path: ib.yaml}]\n"},
                            {"o/ib.yaml", policy("psp: {enabled: true}")}};
  EXPECT_EQ(reported(files), Reported());
  // Without the kustomization nothing says that one apply takes both.
  EXPECT_EQ(reported({files[0], files[2]}), Reported());
  EXPECT_EQ(reported({{"a.yaml", files[0].second + "---\n" + files[2].second}}), Reported{"RB-OP-005 a.yaml:8"});
}

// Spiderpool's chart sets this prefix, and its objects show that it is there.
TEST(PublicFiles, ResourcesHaveSpiderpoolsPrefix) {
  const std::string policy =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a, namespace: "
      "sriov-network-operator}\nspec: {resourceName: vfs, numVfs: 8, nodeSelector: {a: b}, nicSelector: {vendor: "
      "\"15b3\"}}\n---\n";
  const std::string pool =
      "apiVersion: spiderpool.spidernet.io/v2beta1\nkind: SpiderIPPool\nmetadata: {name: p}\nspec: {subnet: "
      "10.0.0.0/24}\n---\n";
  const std::string pod = std::string(kPod) + ", resources: {limits: {spidernet.io/vfs: \"1\"}}}]}\n";
  EXPECT_EQ(reported({{"a.yaml", policy + pool + pod}}), Reported());
  EXPECT_EQ(reported({{"a.yaml", policy + pod}}), Reported{"RB-RES-004 a.yaml:9"});
}

TEST(PublicFiles, PoliciesOfAPageMayBeAlternatives) {
  const auto policy = [](const std::string& name) {
    return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: " + name +
           ", namespace: sriov-network-operator}\nspec: {resourceName: " + name +
           ", numVfs: 8, nodeSelector: {a: b}, nicSelector: {pfNames: [eno1]}}\n";
  };
  const std::string page = "```yaml\n" + policy("a") + "```\n\nOr:\n\n```yaml\n" + policy("b") + "```\n";
  EXPECT_EQ(reported({{"a.md", page}}), Reported());
  EXPECT_EQ(reported({{"a.yaml", policy("a") + "---\n" + policy("b")}}), Reported{"RB-POLICY-015 a.yaml:9"});
}

constexpr const char* kPolicyHead =
    "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a, namespace: "
    "sriov-network-operator}\nspec: {resourceName: a, nodeSelector: {a: b}, nicSelector: {pfNames: [eno1]}, numVfs: ";

// A replacement, a patch of JSON or a transformer writes the value that is applied.
TEST(PublicFiles, ValuesThatAKustomizationSetsAreNotJudged) {
  const std::string policy = std::string(kPolicyHead) + "\"4\"}\n";
  const std::string target = "{select: {kind: SriovNetworkNodePolicy, name: a}, fieldPaths: [spec.numVfs]}";
  const std::string resources = "resources: [p.yaml]\n";
  const std::string operation = "[{op: replace, path: /spec/numVfs, value: 8}]";
  const std::string selected = "target: {kind: SriovNetworkNodePolicy}";
  const NamedTexts lists[] = {
      {{"k/kustomization.yaml", resources + "replacements: [{source: {kind: X}, targets: [" + target + "]}]\n"}},
      {{"k/kustomization.yaml", resources + "replacements: [{path: r.yaml}]\n"},
       {"k/r.yaml", "source: {kind: X}\ntargets: [" + target + "]\n"}},
      {{"k/kustomization.yaml", resources + "patches: [{" + selected + ", patch: \"" + operation + "\"}]\n"}},
      {{"k/kustomization.yaml", resources + "patches: [{" + selected + ", path: j.yaml}]\n"},
       {"k/j.yaml", "- {op: replace, path: /spec/numVfs, value: 8}\n"}},
      {{"k/kustomization.yaml", resources + "transformers: [t.yaml]\n"},
       {"k/t.yaml",
        "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: t}\nreplacements: [{targets: [" + target +
            "]}]\n"}}};
  for (const NamedTexts& list : lists) {
    NamedTexts files = list;
    files.emplace_back("k/p.yaml", policy);
    EXPECT_EQ(reported(files), Reported()) << list[0].second;
  }
  // Of other fields, objects and files.
  EXPECT_EQ(reported({{"k/p.yaml", policy}}), Reported{"RB-API-004 k/p.yaml:4"});
  for (const std::string& other : {std::string("{select: {kind: SriovNetworkNodePolicy}, fieldPaths: [spec.mtu]}"),
                                   std::string("{select: {kind: SriovNetwork}, fieldPaths: [spec.numVfs]}"),
                                   std::string("{select: {name: b}, fieldPaths: [spec.numVfs]}")})
    EXPECT_EQ(reported({{"k/kustomization.yaml", resources + "replacements: [{targets: [" + other + "]}]\n"},
                        {"k/p.yaml", policy}}),
              Reported{"RB-API-004 k/p.yaml:4"})
        << other;
}

// "severity id" of each finding about a type or a placeholder.
std::vector<std::string> severities(const std::string& text) {
  const Report report = check({std::make_shared<const doc::Source>(doc::Source{"a.yaml", text})}, {}, {});
  std::vector<std::string> out;
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == "RB-API-004" || one.id == "RB-DOC-006")
      out.push_back(fmt::format("{} {}", doc::severity_name(one.severity), one.id));
  return out;
}

TEST(PublicFiles, APlaceholderIsNoErrorAndAWordForAProgramIsNone) {
  for (const char* word : {"CHANGEME", "TBD", "<vfs>", "xxx", "REPLACE_ME", "placeholder", "EIGHT_VFS"})
    EXPECT_EQ(severities(std::string(kPolicyHead) + word + "}\n"), Reported{"warning RB-API-004"}) << word;
  for (const char* word : {"_replaced_", "replaced-by-kustomize", "to-be-filled", "REPLACED_BY_CI", "set-by-argocd"})
    EXPECT_EQ(severities(std::string(kPolicyHead) + word + "}\n"), Reported{"note RB-DOC-006"}) << word;
  for (const char* word : {"eight", "\"8\"", "replacement"})
    EXPECT_EQ(severities(std::string(kPolicyHead) + word + "}\n"), Reported{"error RB-API-004"}) << word;
}

}  // namespace
}  // namespace railbed::check
