// SPDX-License-Identifier: Apache-2.0
// Values at the edges of the rules' conditions, as changes of the cases in testdata/check, which hold what rules say
// whole.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "check/check.h"

namespace railbed::check {
namespace {

struct Edge {
  const char* id;
  const char* file;  // below testdata/check/<id>
  const char* from;
  const char* to;
  const char* said;  // how the messages of this id begin, one a line; "" for none
};

std::string findings(const Edge& edge) {
  std::string text = content(testdata() / "check" / edge.id / edge.file);
  const size_t at = text.find(edge.from);
  EXPECT_NE(at, std::string::npos) << edge.id << ": " << edge.from;
  text.replace(at, std::string_view(edge.from).size(), edge.to);
  const Report report = check({std::make_shared<doc::Source>(doc::Source{edge.file, text})}, {}, {});
  std::string out;
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == edge.id) out += (out.empty() ? "" : "\n") + one.message;
  return out;
}

void expect_edges(const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    const std::string got = findings(edge);
    EXPECT_EQ(got.substr(0, std::string_view(edge.said).size()), edge.said) << edge.id << ": " << edge.to;
    EXPECT_EQ(got.empty(), *edge.said == '\0') << edge.id << ": " << edge.to << "\n" << got;
  }
}

TEST(RuleEdges, TrafficClassesWhosePriorityIsNotLossless) {
  std::vector<Edge> edges;
  for (const auto& [value, said] : {std::pair("\"160\"", "traffic class 160 is DSCP 40, priority 5, "),
                                    {"\"0\"", "traffic class 0 is DSCP 0, priority 0, "},
                                    {"\"95\"", "traffic class 95 is DSCP 23, priority 2, "},
                                    {"\"96\"", ""},
                                    {"\"127\"", ""},
                                    {"\"128\"", "traffic class 128 is DSCP 32, priority 4, "},
                                    {"\"255\"", "traffic class 255 is DSCP 63, priority 7, "},
                                    {"\"256\"", ""},
                                    {"\"-1\"", ""},
                                    {"\"160x\"", ""},
                                    {"\"\"", ""}})
    edges.push_back({"RB-MTU-005", "bad.yaml", "\"160\"", value, said});
  expect_edges(edges);
}

TEST(RuleEdges, VfsAboveTheWebhooksLimit) {
  expect_edges({{"RB-RES-007", "bad.yaml", "numVfs: 200", "numVfs: 129", "129 VFs: the operator's webhook"},
                {"RB-RES-007", "bad.yaml", "numVfs: 200", "numVfs: 128", ""},
                {"RB-RES-007", "bad.yaml", "vendor: \"15b3\"", "vendor: \"8086\"", ""}});
}

TEST(RuleEdges, LevelsAsNumbers) {
  expect_edges({{"RB-ENV-001", "bad.yaml", "\"5\"", "\"0\"", "0 is an old number and means LOC"},
                {"RB-ENV-001", "bad.yaml", "\"5\"", "\"3\"", "3 is an old number and means PHB"},
                {"RB-ENV-001", "bad.yaml", "\"5\"", "\"4\"", "4 is an old number and means SYS: GPUDirect"},
                {"RB-ENV-001", "bad.yaml", "\"5\"", "\"9\"", "9 is an old number and means SYS: GPUDirect"},
                {"RB-ENV-001", "bad.yaml", "\"5\"", "\"-1\"", ""},
                {"RB-ENV-001", "bad.yaml", "\"5\"", "\"PXB\"", ""}});
}

TEST(RuleEdges, RatesInProse) {
  std::vector<Edge> edges;
  for (const char* rate : {"400 Gb/s.", "400G.", "400G, each", "400 Gbps", "400GbE", "400G/s", "up to 100G or 400G",
                           "400 Gb/s, 25G", "1600G each", "port 9 with 200G each"})
    edges.push_back({"RB-RDMA-006", "bad.md", "400 Gb/s.", rate,
                     "1017 is a ConnectX-5, whose ports do 100 Gb/s; the text speaks of "});
  for (const char* rate :
       {"199G each", "1601G each", "9G each", "400 GB of memory", "400Gi", "4000G each", "400 ports", "100G each"})
    edges.push_back({"RB-RDMA-006", "bad.md", "400 Gb/s.", rate, ""});
  expect_edges(edges);
}

// A field that slipped into a selector is no label, and no repair makes one of it.
TEST(RuleEdges, SelectorsWithAFieldBesideTheirLabels) {
  const auto found = [](const std::string& labels, const std::string& beside) {
    const std::string text =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ai}\nspec:\n  replicas: 1\n  selector:\n"
        "    matchLabels:\n" +
        labels + beside +
        "  template:\n    metadata:\n      labels:\n        app: a\n    spec:\n      containers:\n"
        "      - {name: c, image: a.example/b:1}\n";
    const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, {}, {});
    std::string ids;
    for (const doc::Diagnostic& one : report.findings.all())
      if (one.severity == doc::Severity::kError) ids += one.id + " ";
    return ids;
  };
  for (const char* field : {"    type: Recreate\n", "    replicas: 2\n", "    minReadySeconds: 5\n",
                            "    paused: true\n", "    revisionHistoryLimit: 3\n"})
    EXPECT_EQ(found("      app: a\n", field), "RB-API-003 ") << field;
  EXPECT_EQ(found("      app: a\n", ""), "");
  EXPECT_EQ(found("      app: a\n      tier: b\n", ""), "RB-ADM-003 ");
}

// One object of two alternatives is one pod; two objects are two.
TEST(RuleEdges, StaticAddressesOfAlternatives) {
  const auto found = [](const std::string& first, const std::string& second) {
    const auto deployment = [](const std::string& file, const std::string& name, const std::string& image) {
      return std::make_shared<doc::Source>(doc::Source{
          file, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
                    ", namespace: ai}\nspec:\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata:\n"
                    "      labels: {app: a}\n      annotations: {k8s.v1.cni.cncf.io/networks: fixed}\n    spec:\n"
                    "      containers:\n      - {name: c, image: \"a.example/" +
                    image + "\"}\n"});
    };
    const auto network = std::make_shared<doc::Source>(doc::Source{
        "net.yaml",
        "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: fixed, namespace: ai}\n"
        "spec:\n  config: '{\"cniVersion\": \"1.0.0\", \"type\": \"macvlan\", \"master\": \"eth1\", \"ipam\": "
        "{\"type\": \"static\", \"addresses\": [{\"address\": \"10.1.0.5/24\"}]}}'\n"});
    const Report report =
        check({network, deployment("one/a.yaml", first, "b:1"), deployment("two/a.yaml", second, "b:2")}, {}, {});
    return std::ranges::count(report.findings.all(), "RB-ADDR-007", &doc::Diagnostic::id);
  };
  EXPECT_EQ(found("a", "a"), 0);
  EXPECT_EQ(found("a", "b"), 1);
}

// A file that two kustomizations take is one object, whatever namespace each of them gives it.
TEST(RuleEdges, AnObjectOfTwoKustomizationsIsCountedOnce) {
  const auto found = [](const std::string& first, const std::string& second) {
    const auto source = [](const std::string& name, const std::string& text) {
      return std::make_shared<const doc::Source>(doc::Source{name, text});
    };
    const auto pod = [&](const std::string& name, const std::string& image) {
      return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
             ", annotations: {k8s.v1.cni.cncf.io/networks: fixed}}\nspec: {containers: [{name: c, image: " + image +
             "}]}\n";
    };
    const std::string kustomization =
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pod.yaml]\n";
    const Report report = check(
        {source("net.yaml",
                "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: fixed}\n"
                "spec:\n  config: '{\"cniVersion\": \"1.0.0\", \"type\": \"macvlan\", \"master\": \"eth1\", \"ipam\": "
                "{\"type\": \"static\", \"addresses\": [{\"address\": \"10.1.0.5/24\"}]}}'\n"),
         source("cno/kustomization.yaml", kustomization + "namespace: demo\n"),
         source("cno/pod.yaml", pod(first, "b:1")), source("network/kustomization.yaml", kustomization),
         source("network/pod.yaml", pod(second, "b:2"))},
        {}, {});
    return std::ranges::count(report.findings.all(), "RB-ADDR-007", &doc::Diagnostic::id);
  };
  EXPECT_EQ(found("a", "a"), 0);
}

TEST(RuleEdges, MemoryThatHoldsTheBuffers) {
  std::vector<Edge> edges;
  for (const char* little : {"memory: 2047Mi", "memory: 2147483647", "memory: 1999999k", "memory: 2000000Ki",
                             "memory: 2G", "memory: 2000M", "memory: 0.001T", "memory: 0.001Ti"})
    edges.push_back({"RB-RDMA-002", "bad.yaml", "memory: 1Gi", little, "pinned memory counts against this limit: "});
  edges.push_back({"RB-RDMA-002", "bad.yaml", "memory: 1Gi", "memory: 8191Mi\n          nvidia.com/gpu: 2",
                   "pinned memory counts against this limit (2 GPUs): "});
  for (const char* enough :
       {"memory: 2Gi", "memory: 2147483648", "memory: 3G", "memory: 1T", "memory: 1Ti", "memory: 2200000k",
        "memory: 2200M", "memory: much", "memory: 1Qi", "memory: 8Gi\n          nvidia.com/gpu: 2"})
    edges.push_back({"RB-RDMA-002", "bad.yaml", "memory: 1Gi", enough, ""});
  expect_edges(edges);
}

}  // namespace
}  // namespace railbed::check
