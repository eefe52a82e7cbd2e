// SPDX-License-Identifier: Apache-2.0
// Objects of several environments in one run: what rests on two of them is not sure, what one apply takes is.
#include "check/rules/ties.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "check/case_files.h"

namespace railbed::check {
namespace {

using TiedFiles = std::vector<std::pair<std::string, std::string>>;
using Confidences = std::vector<std::string>;

// "confidence file" of each finding with this id, in the order of the files.
Confidences confidences(std::string_view id, const TiedFiles& files, const Settings& settings = {},
                        const std::vector<facts::NodeFacts>& nodes = {}) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  Confidences out;
  const Report report = check_files(sources, nodes, settings);
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == id && one.severity == doc::Severity::kError)
      out.push_back(fmt::format("{} {}", doc::confidence_name(one.confidence), one.span.source->name));
  return out;
}

std::string side_network(const std::string& range) {
  return "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: side, namespace: train}\n"
         "spec:\n  config: |\n    {\"cniVersion\": \"1.0.0\", \"name\": \"side\", \"plugins\": [{\"type\": \"macvlan\", "
         "\"master\": \"eno2\", \"capabilities\": {\"ips\": true}, \"ipam\": {\"type\": \"whereabouts\", \"range\": \"" +
         range + "\"}}]}\n";
}
std::string pod_at(const std::string& address, const std::string& name = "worker") {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
         "\n  namespace: train\n  annotations:\n    k8s.v1.cni.cncf.io/networks: '[{\"name\": \"side\", \"ips\": [\"" +
         address + "\"]}]'\nspec: {containers: [{name: main, image: x}]}\n";
}
std::string rail_policy(const std::string& ns) {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: rail0, namespace: " +
         ns +
         "}\nspec:\n  resourceName: rail0\n  nodeSelector: {a: b}\n  numVfs: 8\n  nicSelector: {vendor: \"15b3\", "
         "pfNames: [ens1f0np0]}\n  isRdma: true\n";
}
std::string operator_config(const std::string& ns) {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovOperatorConfig\nmetadata: {name: default, namespace: " +
         ns + "}\nspec: {enableInjector: true}\n";
}
std::string pod_with(const std::string& resource) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: train}\nspec: {containers: [{name: main, image: x, "
         "resources: {limits: {" +
         resource + ": 1}}}]}\n";
}

TEST(Ties, ANetworkAndAPodOfTwoDemos) {
  const std::string wrong = pod_at("10.95.0.7/24");
  const std::string network = side_network("10.94.0.0/24");
  const std::string list = "resources: [../a/n.yaml, p.yaml]\n";
  const struct {
    TiedFiles files;
    Confidences wanted;
  } cases[] = {
      {{{"a.yaml", network + "---\n" + wrong}}, {"high a.yaml"}},
      {{{"a/n.yaml", network}, {"a/p.yaml", wrong}}, {"high a/p.yaml"}},
      // One folder completes the other.
      {{{"a/n.yaml", network}, {"b/p.yaml", wrong}}, {"high b/p.yaml"}},
      {{{"a/n.yaml", network}, {"b/kustomization.yaml", list}, {"b/p.yaml", wrong}}, {"high b/p.yaml"}},
      // The pod has a network of its own demo.
      {{{"a/n.yaml", network}, {"b/n.yaml", side_network("10.95.0.0/24")}, {"b/p.yaml", wrong}}, {}},
      {{{"a/n.yaml", network}, {"README.md", "```yaml\n" + wrong + "```\n"}}, {"medium README.md"}},
  };
  for (const auto& one : cases) EXPECT_EQ(confidences("RB-ATT-001", one.files), one.wanted) << one.files.back().first;
}

// Two versions of a network in one folder: with which of them the pod is applied is unknown.
TEST(Ties, VersionsInOneFolder) {
  const TiedFiles files = {{"a/n1.yaml", side_network("10.94.0.0/24")},
                           {"a/n2.yaml", side_network("10.95.0.0/24")},
                           {"a/p.yaml", pod_at("10.95.0.7/24")}};
  EXPECT_EQ(confidences("RB-ATT-001", files), Confidences{"medium a/p.yaml"});
}

TEST(Ties, TheUsersWord) {
  const TiedFiles files = {{"a/n.yaml", side_network("10.94.0.0/24")}, {"b/p.yaml", pod_at("10.95.0.7/24")}};
  Settings settings;
  settings.together = true;
  EXPECT_EQ(confidences("RB-ATT-001", files, settings), Confidences{"high b/p.yaml"});

  doc::Diagnostics problems;
  Policy policy;
  policy.projects = {
      *read_project_file(std::make_shared<const doc::Source>(doc::Source{
                             "railbed.yaml", "apiVersion: railbed.dev/v1\nkind: CheckProject\nenvironments: [u, v]\n"}),
                         problems)};
  policy.places["a/n.yaml"] = {.project = 0, .path = "a/n.yaml"};
  policy.places["b/p.yaml"] = {.project = 0, .path = "b/p.yaml"};
  settings = {};
  settings.policy = &policy;
  EXPECT_EQ(confidences("RB-ATT-001", files, settings), Confidences{"high b/p.yaml"});
}

TEST(Ties, AnOperatorsConfigurationIsOfItsOwnEnvironment) {
  const std::string config = operator_config("sriov-network-operator");
  const std::string policy = rail_policy("openshift-sriov-network-operator");
  EXPECT_EQ(confidences("RB-OP-007", {{"a.yaml", config + "---\n" + policy}}), Confidences{"high a.yaml"});
  EXPECT_EQ(confidences("RB-OP-007", {{"a/c.yaml", config}, {"a/p.yaml", policy}}), Confidences{"high a/p.yaml"});
  EXPECT_EQ(confidences("RB-OP-007", {{"a/c.yaml", config}, {"b/p.yaml", policy}}), Confidences());
  EXPECT_EQ(confidences("RB-OP-007", {{"a/c.yaml", config},
                                      {"b/c.yaml", operator_config("openshift-sriov-network-operator")},
                                      {"b/p.yaml", policy}}),
            Confidences());
}

// An injector that is off makes an error of a missing request, in its own environment only.
TEST(Ties, AnInjectorIsOfItsOwnEnvironment) {
  const std::string off =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovOperatorConfig\nmetadata: {name: default, namespace: "
      "ops}\nspec: {enableInjector: false}\n";
  const std::string network =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: n, namespace: ops}\nspec: "
      "{resourceName: rail0, networkNamespace: train}\n";
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: train, annotations: {k8s.v1.cni.cncf.io/networks: "
      "n}}\nspec: {containers: [{name: c, image: x}]}\n";
  const std::string all = network + "---\n" + pod;
  EXPECT_EQ(confidences("RB-RES-005", {{"a.yaml", all + "---\n" + off}}), Confidences{"high a.yaml"});
  EXPECT_EQ(confidences("RB-RES-005", {{"a/all.yaml", all}, {"b/off.yaml", off}}), Confidences());
}

TEST(Ties, APoolsRdmaModeIsOfItsOwnEnvironment) {
  const std::string pool =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkPoolConfig\nmetadata: {name: p, namespace: ops}\n"
      "spec: {maxUnavailable: 1, rdmaMode: shared}\n";
  const std::string network =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: n, namespace: ops}\nspec: "
      "{resourceName: rail0, metaPlugins: '{\"type\": \"rdma\"}'}\n";
  const std::string policy = rail_policy("ops") + "---\n";
  EXPECT_EQ(confidences("RB-RDMA-005", {{"a.yaml", policy + network + "---\n" + pool}}), Confidences{"high a.yaml"});
  EXPECT_EQ(confidences("RB-RDMA-005", {{"a/n.yaml", policy + network}, {"b/pool.yaml", pool}}), Confidences());
}

// The prefix is the operator's, in whichever alternative a file is.
TEST(Ties, APrefixIsOfTheWholeEnvironment) {
  const std::string policy = rail_policy("sriov-network-operator");
  const std::string pod = pod_with("nvidia.com/rail0");
  const std::string values = "operator:\n  resourcePrefix: nvidia.com\n";
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op}\nspec: {selector: {matchLabels: {a: b}}, template: "
      "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, env: [{name: RESOURCE_PREFIX, value: "
      "nvidia.com}]}]}}}\n";
  const std::string install = "#!/bin/sh\nhelm install op chart --set sriov.operator.resourcePrefix=nvidia.com,x=y\n";
  EXPECT_EQ(confidences("RB-RES-004", {{"a.yaml", policy + "---\n" + pod}}), Confidences{"medium a.yaml"})
      << "nothing says the prefix";
  EXPECT_EQ(confidences("RB-RES-004", {{"a/p.yaml", policy}, {"a/x/pod.yaml", pod}, {"a/values.yaml", values}}),
            Confidences());
  EXPECT_EQ(confidences("RB-RES-004", {{"a/all.yaml", policy + "---\n" + pod}, {"a/op.yaml", deployment}}),
            Confidences());
  EXPECT_EQ(confidences("RB-RES-004", {{"a/all.yaml", policy + "---\n" + pod}, {"install.sh", install}}),
            Confidences());
  EXPECT_EQ(confidences("RB-RES-004", {{"a/all.yaml", policy + "---\n" + pod}, {"b/op.yaml", deployment}}),
            Confidences{"medium a/all.yaml"})
      << "of another environment";
  EXPECT_EQ(confidences("RB-RES-004",
                        {{"a/all.yaml", policy + "---\n" + pod_with("openshift.io/rail0")}, {"a/values.yaml", values}}),
            Confidences{"high a/all.yaml"})
      << "not the operator's prefix";
  // The values are in one of two alternatives; the policy and the pod are in the other.
  const auto map = [](const std::string& value) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: x}\ndata: {values: \"" + value + "\"}\n";
  };
  EXPECT_EQ(confidences("RB-RES-004", {{"a/one.yaml", map("x: y")},
                                       {"a/two.yaml", map("resourcePrefix: nvidia.com")},
                                       {"a/p.yaml", policy + "---\n" + pod}}),
            Confidences());
}

// What one object is wrong in by itself stays sure, whatever of another one the finding shows.
TEST(Ties, AnObjectThatIsWrongByItself) {
  const TiedFiles files = {{"a/p.yaml", rail_policy("ops")}, {"b/pod.yaml", pod_with("rail0")}};
  EXPECT_EQ(confidences("RB-RES-011", files), Confidences{"high b/pod.yaml"});
}

// Facts are of some nodes; a pod that must run on one of them is sure.
TEST(Ties, FactsOfSomeNodes) {
  const std::vector<facts::NodeFacts> nodes = testing_cases::facts_named_in("# facts: gpu8-roce8\n");
  const auto pod_on = [](const std::string& where) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: w, namespace: train}\nspec: {hostNetwork: true, " + where +
           "containers: [{name: main, image: x, env: [{name: NCCL_SOCKET_IFNAME, value: bond0}]}]}\n";
  };
  EXPECT_EQ(confidences("RB-ENV-009", {{"a.yaml", pod_on("")}}, {}, nodes), Confidences{"medium a.yaml"});
  EXPECT_EQ(confidences("RB-ENV-009", {{"a.yaml", pod_on("nodeName: gpu8-roce8, ")}}, {}, nodes),
            Confidences{"high a.yaml"});
  EXPECT_EQ(confidences("RB-ENV-009", {{"a.yaml", pod_on("nodeSelector: {kubernetes.io/hostname: gpu8-roce8}, ")}}, {},
                        nodes),
            Confidences{"high a.yaml"});
}

}  // namespace
}  // namespace railbed::check
