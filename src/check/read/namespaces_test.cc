// SPDX-License-Identifier: Apache-2.0
#include "check/read/namespaces.h"

#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// "severity id file:line" of each finding about networks that are not there.
std::vector<std::string> reported_together(const NamedTexts& files, bool together = false) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  Settings settings;
  settings.together = together;
  std::vector<std::string> out;
  const Report report = check_files(sources, {}, settings);
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == "RB-POD-001" || one.id == "RB-NET-010")
      out.push_back(
          fmt::format("{} {} {}:{}", doc::severity_name(one.severity), one.id, one.span.source->name, one.span.line));
  return out;
}
using Reported = std::vector<std::string>;

std::string network_in(const std::string& name, const std::string& ns) {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: " + name +
         ", namespace: ops}\nspec: {resourceName: r" + (ns.empty() ? "" : ", networkNamespace: " + ns) + "}\n";
}
std::string pod_in(const std::string& networks, const std::string& ns = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + (ns.empty() ? "" : ", namespace: " + ns) +
         ", annotations: {k8s.v1.cni.cncf.io/networks: " + networks +
         "}}\nspec: {containers: [{name: c, image: x, resources: {limits: {openshift.io/r: 1}}}]}\n";
}

TEST(Namespaces, AreThoseThatAKustomizationAdds) {
  const std::string list = "namespace: llm\nresources: [p.yaml]\n";
  EXPECT_EQ(reported_together(
                {{"n.yaml", network_in("net", "llm")}, {"k/kustomization.yaml", list}, {"k/p.yaml", pod_in("net")}}),
            Reported());
  EXPECT_EQ(
      reported_together(
          {{"n.yaml", network_in("net", "llm")}, {"k/kustomization.yaml", list}, {"k/p.yaml", pod_in("net", "other")}}),
      Reported())
      << "it overwrites";
  // Both are written, by the network and by the kustomization.
  EXPECT_EQ(reported_together({{"k/n.yaml", network_in("net", "ai")},
                               {"k/kustomization.yaml", "namespace: llm\nresources: [p.yaml, n.yaml]\n"},
                               {"k/p.yaml", pod_in("net")}}),
            Reported{"error RB-POD-001 k/p.yaml:3"});
  // Two overlays with different namespaces: unknown.
  EXPECT_EQ(reported_together({{"n.yaml", network_in("net", "ai")},
                               {"base/kustomization.yaml", "resources: [p.yaml]\n"},
                               {"base/p.yaml", pod_in("net")},
                               {"a/kustomization.yaml", "namespace: ai\nresources: [../base]\n"},
                               {"b/kustomization.yaml", "namespace: b\nresources: [../base]\n"}}),
            Reported{"note RB-POD-001 base/p.yaml:3"});
}

TEST(Namespaces, AreThoseThatDeploymentToolsAndCommandsAdd) {
  const std::string application =
      "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"
      "spec: {source: {path: apps/llm}, destination: {namespace: llm}}\n";
  EXPECT_EQ(reported_together(
                {{"n.yaml", network_in("net", "llm")}, {"argo.yaml", application}, {"apps/llm/p.yaml", pod_in("net")}}),
            Reported());
  const std::string flux =
      "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
      "spec: {path: ./apps, targetNamespace: llm}\n";
  EXPECT_EQ(
      reported_together({{"n.yaml", network_in("net", "llm")}, {"flux.yaml", flux}, {"apps/p.yaml", pod_in("net")}}),
      Reported());
  EXPECT_EQ(reported_together({{"n.yaml", network_in("net", "llm")},
                               {"p.yaml", pod_in("net")},
                               {"README.md", "```sh\nkubectl -n llm apply -f p.yaml\n```\n"}}),
            Reported());
  EXPECT_EQ(reported_together({{"a.md", "```sh\nkubectl apply -n llm -f - <<EOF\n" + pod_in("net") +
                                            "EOF\n```\n\n```yaml\n" + network_in("net", "llm") + "```\n"}}),
            Reported());
}

// "id file:line" of the errors of one rule.
std::vector<std::string> errors_of_rule(const std::string& id, const NamedTexts& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  std::vector<std::string> out;
  const Report report = check_files(sources, {}, {});
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == id && one.severity == doc::Severity::kError)
      out.push_back(fmt::format("{} {}:{}", one.id, one.span.source->name, one.span.line));
  return out;
}

std::string indented_by(const std::string& by, const std::string& text) {
  std::string out = by;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  return out.substr(0, out.size() - by.size());
}

// Argo CD puts its namespace onto the policies, which a hub keeps there; what they hold goes to other clusters.
TEST(Namespaces, AreNotAddedToWhatOtherObjectsHold) {
  const std::string application =
      "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"
      "spec: {source: {path: policies}, destination: {namespace: policies}}\n";
  const std::string flux =
      "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
      "spec: {path: ./policies, targetNamespace: policies}\n";
  const std::string config =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovOperatorConfig\nmetadata: {name: default}\nspec: {}\n";
  const std::string policy =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a, namespace: "
      "sriov-network-operator}\nspec: {numVfs: 8, resourceName: a, nodeSelector: {x: y}, nicSelector: {pfNames: "
      "[ens1]}}\n";
  const std::string in_policy =
      "apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nmetadata: {name: c}\nspec:\n"
      "  object-templates:\n  - complianceType: musthave\n    objectDefinition:\n" +
      indented_by("      ", config);
  const std::string in_work =
      "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: w}\nspec:\n  workload:\n"
      "    manifests:\n    -\n" +
      indented_by("      ", config);
  const std::string in_map =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a.yaml: |\n" + indented_by("    ", config);
  const std::string generator =
      "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\nmetadata: {name: g}\npolicies:\n"
      "- name: p\n  manifests: [{path: crs/config.yaml}]\n";
  for (const std::string& applies : {application, flux}) {
    for (const std::string& holder : {in_policy, in_work, in_map})
      EXPECT_EQ(errors_of_rule("RB-OP-007",
                               {{"app.yaml", applies}, {"policies/c.yaml", holder}, {"policies/p.yaml", policy}}),
                Reported())
          << holder;
    EXPECT_EQ(errors_of_rule("RB-OP-007", {{"app.yaml", applies},
                                           {"policies/g.yaml", generator},
                                           {"policies/crs/config.yaml", config},
                                           {"p.yaml", policy}}),
              Reported());
  }
  // Written, it counts: both are of one operator.
  std::string elsewhere = config;
  elsewhere.replace(elsewhere.find("{name: default}"), 15, "{name: default, namespace: ops}");
  EXPECT_EQ(errors_of_rule("RB-OP-007", {{"policies/c.yaml", elsewhere + "---\n" + policy}}),
            Reported{"RB-OP-007 policies/c.yaml:8"});
}

// Two demos in one repository, each with its own operator.
TEST(Environments, AreApartUnlessSomethingTiesThem) {
  const std::string api = "apiVersion: sriovnetwork.openshift.io/v1\nkind: ";
  const std::string config = api + "SriovOperatorConfig\nmetadata: {name: default, namespace: ops-a}\nspec: {}\n";
  const auto policy = [&](const std::string& name, const std::string& ns) {
    return api + "SriovNetworkNodePolicy\nmetadata: {name: " + name + ", namespace: " + ns +
           "}\nspec: {numVfs: 8, resourceName: " + name + ", nodeSelector: {x: y}, nicSelector: {pfNames: [ens1]}}\n";
  };
  const auto network = [&](const std::string& resource, const std::string& ns) {
    return api + "SriovNetwork\nmetadata: {name: net-" + resource + ", namespace: " + ns +
           "}\nspec: {resourceName: " + resource + "}\n";
  };
  const NamedTexts demos = {{"a/config.yaml", config},
                            {"a/net.yaml", network("ra", "ops-a")},
                            {"a/policy.yaml", policy("ra", "ops-a")},
                            {"b/net.yaml", network("rb", "ops-b")},
                            {"b/policy.yaml", policy("rb", "ops-b")}};
  const auto with = [&](const std::string& name, const std::string& text) {
    NamedTexts files = demos;
    files.emplace_back(name, text);
    return errors_of_rule("RB-OP-007", files);
  };
  const Reported wrong = {"RB-OP-007 b/policy.yaml:3"};
  EXPECT_EQ(errors_of_rule("RB-OP-007", demos), Reported());
  EXPECT_EQ(with("README.md", "# Demos\n\n    kubectl apply -f a/\n"), Reported());
  EXPECT_EQ(with("a/kustomization.yaml", "resources: [config.yaml, net.yaml, policy.yaml]\n"), Reported());
  EXPECT_EQ(with("a/up.sh", "kubectl apply -f a/\n"), Reported());
  EXPECT_EQ(with("c/net.yaml", network("ra", "ops-a")), Reported());
  // A kustomization, a script or Applications of one folder apply both; a network takes VFs of the other one's policy.
  EXPECT_EQ(with("kustomization.yaml", "resources: [a/config.yaml, b/policy.yaml]\n"), wrong);
  EXPECT_EQ(with("up.sh", "kubectl apply -f a/\nkubectl apply -f b/policy.yaml\n"), wrong);
  const std::string app = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: ";
  EXPECT_EQ(
      with("apps/all.yaml", app + "a}\nspec: {source: {path: a}}\n---\n" + app + "b}\nspec: {source: {path: b}}\n"),
      wrong);
  EXPECT_EQ(with("b/more.yaml", network("ra", "ops-b")), wrong);
  // Nothing in one folder names what is in the other one.
  EXPECT_EQ(errors_of_rule("RB-OP-007", {{"operator/config.yaml", config}, {"policies/p.yaml", policy("rb", "ops-b")}}),
            Reported());
}

TEST(Namespaces, ThatAreUnknownFitAny) {
  EXPECT_EQ(reported_together({{"a.yaml", network_in("net", "ferry") + "---\n" + pod_in("net")}}),
            Reported{"note RB-POD-001 a.yaml:8"});
  EXPECT_EQ(reported_together({{"a.yaml", network_in("net", "default") + "---\n" + pod_in("net")}}), Reported());
  EXPECT_EQ(reported_together({{"a.yaml", network_in("net", "ferry") + "---\n" + pod_in("net", "dock")}}),
            Reported{"error RB-POD-001 a.yaml:8"});
  EXPECT_EQ(reported_together({{"a.yaml", network_in("net", "ferry") + "---\n" + pod_in("other/net")}}),
            Reported{"error RB-POD-001 a.yaml:8"});
}

TEST(Namespaces, NamesThatAKustomizationChangesStayInAnnotations) {
  const auto files = [](const std::string& annotation, const std::string& list) {
    return NamedTexts{{"k/kustomization.yaml", list + "resources: [p.yaml, n.yaml]\n"},
                      {"k/n.yaml", network_in("net", "ai")},
                      {"k/p.yaml", pod_in(annotation, "ai")}};
  };
  EXPECT_EQ(reported_together(files("net", "namePrefix: dev-\n")), Reported{"error RB-NET-010 k/p.yaml:3"});
  EXPECT_EQ(reported_together(files("net", "nameSuffix: -dev\n")), Reported{"error RB-NET-010 k/p.yaml:3"});
  EXPECT_EQ(reported_together(files("dev-net", "namePrefix: dev-\n")), Reported());
  EXPECT_EQ(reported_together(files("net", "")), Reported());
}

TEST(OpenWorld, AbsenceIsAnErrorOnlyWhereAllWasRead) {
  const std::string both = network_in("net", "ai") + "---\n" + pod_in("absent", "ai");
  EXPECT_EQ(reported_together({{"a.yaml", both}}), Reported{"error RB-POD-001 a.yaml:8"});
  // Not in one file, and nothing takes both.
  EXPECT_EQ(reported_together({{"n.yaml", network_in("net", "ai")}, {"p.yaml", pod_in("absent", "ai")}}),
            Reported{"note RB-POD-001 p.yaml:3"});
  EXPECT_EQ(reported_together({{"n.yaml", network_in("net", "ai")}, {"p.yaml", pod_in("absent", "ai")}}, true),
            Reported{"error RB-POD-001 p.yaml:3"});
  EXPECT_EQ(reported_together({{"n.yaml", network_in("rdma-net", "ai")}, {"p.yaml", pod_in("rdma-nte", "ai")}}),
            Reported{"warning RB-POD-001 p.yaml:3"});
  EXPECT_EQ(reported_together({{"n.yaml", network_in("net1", "ai")}, {"p.yaml", pod_in("net2", "ai")}}),
            Reported{"note RB-POD-001 p.yaml:3"});
  EXPECT_EQ(reported_together({{"kustomization.yaml", "resources: [n.yaml, p.yaml]\n"},
                               {"n.yaml", network_in("net", "ai")},
                               {"p.yaml", pod_in("absent", "ai")}}),
            Reported{"error RB-POD-001 p.yaml:3"});
  // What else may make it.
  for (const std::string& other :
       {std::string("{{- range .Values.rails }}\napiVersion: x\nkind: y\n{{- end }}\n"),
        std::string("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: rails}\n"),
        std::string("apiVersion: example.org/v1\nkind: RailSet\nmetadata: {name: rails}\n"),
        std::string("resources: [github.com/example/rails?ref=main]\n")}) {
    const std::string name = other.starts_with("resources") ? "kustomization.yaml" : "other.yaml";
    EXPECT_EQ(reported_together({{"a.yaml", both}, {name, other}}), Reported{"note RB-POD-001 a.yaml:8"}) << other;
  }
  for (const std::string& other :
       {std::string("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\n"),
        std::string("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {}\n"), std::string("a: b\n")})
    EXPECT_EQ(reported_together({{"a.yaml", both}, {"other.yaml", other}}), Reported{"error RB-POD-001 a.yaml:8"})
        << other;
  // Pages show a part.
  EXPECT_EQ(reported_together({{"a.md", "```yaml\n" + both + "```\n"}}), Reported{"note RB-POD-001 a.md:9"});
}

}  // namespace
}  // namespace railbed::check
