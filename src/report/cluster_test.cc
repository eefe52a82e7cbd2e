// SPDX-License-Identifier: Apache-2.0
#include "report/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "report/html_cluster.h"

namespace railbed::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

doc::Value parsed(std::string text) {
  doc::Diagnostics problems;
  auto value = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"object", std::move(text)}), problems);
  EXPECT_FALSE(problems.has_errors());
  return value ? std::move(*value) : doc::Value();
}

doc::Value node(const std::string& name, const std::string& conditions, const std::string& spec = "{}") {
  return parsed(fmt::format(
      R"({{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{}"}}, "spec": {},
           "status": {{"conditions": [{}], "nodeInfo": {{"kernelVersion": "6.1.0-28-amd64", "osImage": "Debian 12",
             "architecture": "amd64", "containerRuntimeVersion": "containerd://1.7", "kubeletVersion": "v1.36.2"}}}}}})",
      name, spec, conditions));
}
constexpr const char* kReady = R"({"type": "Ready", "status": "True", "reason": "KubeletReady"})";
constexpr const char* kNotReady = R"({"type": "Ready", "status": "False", "reason": "KubeletNotReady"})";

// Two PFs with a group of rail0 and one of rail1; the first has two VFs.
doc::Value state(const std::string& name, const std::string& status, int generation = 1) {
  return parsed(fmt::format(
      R"({{"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodeState",
           "metadata": {{"name": "{}", "namespace": "railbed", "generation": {}}},
           "spec": {{"interfaces": [
             {{"pciAddress": "0000:01:00.0", "name": "ens1f0", "numVfs": 2, "vfGroups": [
               {{"policyName": "rail0", "resourceName": "rail0", "vfRange": "0-1", "deviceType": "netdevice"}}]}},
             {{"pciAddress": "0000:02:00.0", "name": "ens2f0", "numVfs": 1, "vfGroups": [
               {{"policyName": "rail1", "resourceName": "rail1", "vfRange": "0-0", "deviceType": "netdevice"}}]}}]}},
           "status": {{"interfaces": [
             {{"pciAddress": "0000:01:00.0", "name": "ens1f0", "numVfs": 2, "totalvfs": 8, "linkType": "ETH",
               "linkSpeed": "100000 Mb/s", "Vfs": [{{"vfID": 0, "pciAddress": "0000:01:10.0"}},
                                                   {{"vfID": 1, "pciAddress": "0000:01:10.1"}}]}},
             {{"pciAddress": "0000:02:00.0", "name": "ens2f0", "totalvfs": 8}},
             {{"pciAddress": "0000:03:00.0", "name": "eno1"}}], {}}}}})",
      name, generation, status));
}

doc::Value policy(const std::string& name, int priority, const std::string& status) {
  return parsed(fmt::format(
      R"({{"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
           "metadata": {{"name": "{0}", "namespace": "railbed"}},
           "spec": {{"resourceName": "{0}", "numVfs": 2, "priority": {1}, "mtu": 9000, "isRdma": true,
             "nodeSelector": {{"gpu": "true", "rack": ""}},
             "nicSelector": {{"vendor": "15b3", "rootDevices": ["0000:01:00.0"], "pfNames": ["ens1f0#0-1"]}}}},
           "status": {2}}})",
      name, priority, status));
}

constexpr const char* kNetworkStatus =
    R"([{\"name\": \"pods\", \"interface\": \"eth0\", \"ips\": [\"10.88.0.2\"], \"default\": true},
  {\"name\": \"llm/rail0\", \"interface\": \"net1\", \"ips\": [\"10.10.0.5\", \"fd00::5\"], \"device-info\": {\"type\": \"pci\",
   \"pci\": {\"pci-address\": \"0000:01:10.1\", \"rdma-device\": \"mlx5_3\"}}}])";

doc::Value pod(const std::string& name, const std::string& asked, const std::string& status,
               const char* phase = "Running") {
  std::string one_line = status;
  std::ranges::replace(one_line, '\n', ' ');
  return parsed(fmt::format(
      R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}", "namespace": "llm", "annotations": {{
             "k8s.v1.cni.cncf.io/networks": "{}", "k8s.v1.cni.cncf.io/network-status": "{}"}}}},
           "spec": {{"nodeName": "gpu-1", "containers": [{{"name": "c"}}]}}, "status": {{"phase": "{}"}}}})",
      name, asked, one_line, phase));
}

doc::Value definition(const std::string& name, const std::string& config) {
  return parsed(fmt::format(
      R"({{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {{"name": "{}",
             "namespace": "llm", "annotations": {{"k8s.v1.cni.cncf.io/resourceName": "openshift.io/{}"}}}},
           "spec": {{"config": "{}"}}}})",
      name, name, config));
}

// Two nodes and what can be wrong with them, one that is only a node state.
ClusterObjects all_kinds() {
  ClusterObjects objects;
  objects.nodes = {node("gpu-1", std::string(R"({"type": "MemoryPressure", "status": "False"}, )") + kReady),
                   node("gpu-2", kNotReady, R"({"unschedulable": true})"),
                   node("gpu-3", std::string(kReady) + R"(, {"type": "DiskPressure", "status": "True"})")};
  objects.node_states = {
      state("gpu-1", R"("syncStatus": "Succeeded", "observedGeneration": 1)"),
      state("gpu-2", R"("syncStatus": "Failed", "lastSyncError": "ens1f0: create 2 VFs: EBUSY", "observedGeneration": 1,
                        "policies": [{"name": "rail0", "state": "Failed", "message": "ens1f0: create 2 VFs: EBUSY"},
                                     {"name": "rail1", "state": "Held", "message": "llm/w has VF 0"}])"),
      state("gone", R"("syncStatus": "Succeeded", "observedGeneration": 1)", 2)};
  objects.policies = {
      policy("rail1", 20, "{}"),
      policy("rail0", 10, R"({"conditions": [{"type": "Ready", "status": "False", "reason": "Failed",
          "message": "node gpu-2: ens1f0: create 2 VFs: EBUSY"}],
          "nodes": [{"name": "gpu-2", "state": "Failed", "message": "ens1f0: create 2 VFs: EBUSY", "pfs": ["ens1f0"]},
                    {"name": "gpu-9", "state": "Shadowed", "message": "railbed/other took its VFs"}]})"),
      policy("none", 99, R"({"conditions": [{"type": "Ready", "status": "False", "reason": "NoNodeMatches",
          "message": "no node has the labels of its nodeSelector"}]})")};
  objects.definitions = {
      definition(
          "rail0",
          R"({\"cniVersion\": \"1.0.0\", \"name\": \"rail0\", \"plugins\": [{\"type\": \"sriov\", \"ipam\": {\"type\": \"whereabouts\", \"range\": \"10.10.0.0/24\"}}, {\"type\": \"tuning\"}]})"),
      definition("file", ""), definition("broken", "{")};
  objects.pods = {pod("w", "rail0, rail1", kNetworkStatus), pod("without", "", ""),
                  pod("ended", "rail0", "", "Succeeded"), pod("waits", "rail0", "[]", "Pending")};
  objects.unknown = {"Pod: GET /api/v1/pods: 403"};
  return objects;
}

TEST(Cluster, APfIsWhatHasOrCanHaveVfs) {
  ClusterObjects objects;
  objects.node_states = {parsed(
      R"({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodeState",
          "metadata": {"name": "gpu-1", "namespace": "railbed"}, "spec": {}, "status": {"interfaces": [
            {"pciAddress": "0000:01:00.0", "name": "ens1f0", "totalvfs": 1},
            {"pciAddress": "0000:02:00.0", "name": "ens2f0", "numVfs": 1},
            {"pciAddress": "0000:03:00.0", "name": "eno1"}]}})")};
  const Cluster cluster = cluster_of(objects);
  std::vector<std::string> names;
  for (const ClusterPf& pf : cluster.nodes.at(0).pfs) names.push_back(pf.name);
  EXPECT_THAT(names, ElementsAre("ens1f0", "ens2f0"));
}

TEST(Cluster, NodesWithConditionsPfsAndVfs) {
  const Cluster cluster = cluster_of(all_kinds());
  ASSERT_THAT(cluster.nodes, SizeIs(4));
  const ClusterNode& bad = cluster.nodes[0];  // what stands badly comes first
  EXPECT_EQ(bad.name, "gpu-2");
  EXPECT_THAT(bad.conditions, ElementsAre("not Ready: KubeletNotReady", "cordoned"));
  EXPECT_EQ(bad.state, "Failed: ens1f0: create 2 VFs: EBUSY");
  EXPECT_EQ(bad.state_severity, StateSeverity::kBad);
  const ClusterNode& gone = cluster.nodes[1];
  EXPECT_THAT(gone.conditions, ElementsAre("Node not found"));
  EXPECT_EQ(gone.state,
            "Pending: its agent has not applied the last change yet; it reported Succeeded for the previous one");
  const ClusterNode& good = cluster.nodes[2];
  EXPECT_EQ(good.name, "gpu-1");
  EXPECT_THAT(good.conditions, ElementsAre("Ready"));
  EXPECT_EQ(good.severity, StateSeverity::kGood);
  EXPECT_EQ(good.state, "Succeeded");
  EXPECT_EQ(good.versions.at("kernel"), "6.1.0-28-amd64");
  ASSERT_THAT(good.pfs, SizeIs(2)) << "eno1 can make no VFs";
  EXPECT_EQ(good.pfs[0].link, "ETH, 100000 Mb/s");
  EXPECT_THAT(good.pfs[0].resources, ElementsAre("rail0: VFs 0-1"));
  EXPECT_EQ(good.pfs[0].vfs, 2);
  EXPECT_EQ(good.pfs[0].most_vfs, 8);
  EXPECT_EQ(good.pfs[0].in_use, 1);
  EXPECT_EQ(good.pfs[1].in_use, 0);
  EXPECT_THAT(good.pfs[1].resources, ElementsAre("rail1: VF 0"));
  EXPECT_THAT(cluster.nodes[3].conditions, ElementsAre("Ready", "DiskPressure"));
  EXPECT_EQ(cluster.nodes[3].severity, StateSeverity::kWaits);
  EXPECT_EQ(cluster.nodes[3].state, "no node state");
}

TEST(Cluster, ANodeOfWhichNothingIsKnownIsThereAnyway) {
  ClusterObjects objects;
  objects.nodes = {node("new", "")};
  objects.node_states = {state("new", R"("lastSyncError": "")")};
  const Cluster cluster = cluster_of(objects);
  EXPECT_THAT(cluster.nodes[0].conditions, ElementsAre("kubelet has not reported yet"));
  EXPECT_EQ(cluster.nodes[0].state, "Unknown: not yet reported by its agent");
}

std::vector<std::string> where(const ClusterPolicy& policy) {
  std::vector<std::string> out;
  for (const PolicyOnNodes& on : policy.where)
    out.push_back(fmt::format("{} [{}] {}{}{}", fmt::join(on.nodes, " "), fmt::join(on.pfs, ", "), on.state,
                              on.message.empty() ? "" : ": ", on.message));
  return out;
}

TEST(Cluster, PoliciesWithWhatBecameOfThem) {
  const Cluster cluster = cluster_of(all_kinds());
  ASSERT_THAT(cluster.policies, SizeIs(3));
  const ClusterPolicy& first = cluster.policies[0];
  EXPECT_EQ(first.name, "rail0");
  EXPECT_EQ(first.asks, "2 VFs as rail0 (netdevice, RDMA), MTU 9000, priority 10");
  EXPECT_EQ(first.nodes, "gpu=true, rack");
  EXPECT_EQ(first.nics, "vendor 15b3, at 0000:01:00.0, named ens1f0#0-1");
  EXPECT_EQ(first.state, "Failed: node gpu-2: ens1f0: create 2 VFs: EBUSY");
  EXPECT_THAT(where(first),
              ElementsAre("gpu-2 [ens1f0: VFs 0-1] Failed: ens1f0: create 2 VFs: EBUSY",
                          "gone [ens1f0: VFs 0-1] Pending: not yet applied by the node",
                          "gpu-9 [] Shadowed: railbed/other took its VFs", "gpu-1 [ens1f0: VFs 0-1] Applied"));
  const ClusterPolicy& second = cluster.policies[1];
  EXPECT_EQ(second.state, "Unknown: not yet reported by the operator");
  EXPECT_THAT(where(second),
              ElementsAre("gpu-2 [ens2f0: VF 0] Held: llm/w has VF 0",
                          "gone [ens2f0: VF 0] Pending: not yet applied by the node", "gpu-1 [ens2f0: VF 0] Applied"));
  EXPECT_EQ(cluster.policies[2].state, "NoNodeMatches: no node has the labels of its nodeSelector");
  EXPECT_THAT(cluster.policies[2].where, IsEmpty());
}

TEST(Cluster, NodesThatSayTheSameOfAPolicyAreOneLine) {
  ClusterObjects objects;
  for (int i = 0; i < 3; ++i)
    objects.node_states.push_back(state(fmt::format("gpu-{}", i), R"("syncStatus": "Succeeded")"));
  objects.policies = {policy("rail0", 10, "{}")};
  EXPECT_THAT(where(cluster_of(objects).policies[0]), ElementsAre("gpu-0 gpu-1 gpu-2 [ens1f0: VFs 0-1] Applied"));
}

// A node state whose definition prunes the key `policies`, as the SR-IOV operator's does.
TEST(Cluster, WithoutPoliciesInItsStateANodeIsShownBySyncStatus) {
  ClusterObjects objects;
  objects.node_states = {state("a", R"("syncStatus": "Failed", "lastSyncError": "no room")"),
                         state("b", R"("syncStatus": "InProgress")"), state("c", R"("syncStatus": "Succeeded")")};
  objects.policies = {policy("rail0", 10, "{}")};
  EXPECT_THAT(where(cluster_of(objects).policies[0]),
              ElementsAre("a [ens1f0: VFs 0-1] Failed: no room",
                          "b [ens1f0: VFs 0-1] Pending: not yet applied by the node", "c [ens1f0: VFs 0-1] Applied"));
}

TEST(Cluster, NetworksAndThePodsThatHaveThem) {
  const Cluster cluster = cluster_of(all_kinds());
  ASSERT_THAT(cluster.networks, SizeIs(2));
  EXPECT_EQ(cluster.networks[0].plugins, "a file of each node");
  EXPECT_EQ(cluster.networks[1].plugins, "sriov, tuning");
  EXPECT_EQ(cluster.networks[1].addresses, "whereabouts 10.10.0.0/24");
  EXPECT_EQ(cluster.networks[1].resource, "openshift.io/rail0");
  ASSERT_THAT(cluster.pods, SizeIs(2)) << "one has no networks, one has ended";
  EXPECT_EQ(cluster.pods[0].name, "w");
  ASSERT_THAT(cluster.pods[0].interfaces, SizeIs(1)) << "without the default network";
  EXPECT_EQ(cluster.pods[0].interfaces[0].vf, "0000:01:10.1");
  EXPECT_EQ(cluster.pods[0].interfaces[0].rdma, "mlx5_3");
  EXPECT_THAT(cluster.pods[0].interfaces[0].addresses, ElementsAre("10.10.0.5", "fd00::5"));
  EXPECT_THAT(cluster.pods[0].missing, ElementsAre("llm/rail1"));
  EXPECT_THAT(cluster.pods[1].missing, ElementsAre("llm/rail0"));
}

TEST(Cluster, WhatCannotBeReadIsReported) {
  ClusterObjects objects = all_kinds();
  objects.node_states.push_back(state("bad", R"("syncStatus": 7)"));
  objects.policies.push_back(
      parsed(R"({"kind": "SriovNetworkNodePolicy", "metadata": {"name": "empty"}, "spec": {}})"));
  const Cluster cluster = cluster_of(objects);
  EXPECT_THAT(
      cluster.unknown,
      ElementsAre("Pod: GET /api/v1/pods: 403",
                  "SriovNetworkNodeState bad: object:13:77: status.syncStatus must be a string, found an integer 7",
                  testing::StartsWith("NetworkAttachmentDefinition broken: ")));
  const auto unread = std::ranges::find(cluster.policies, "empty", &ClusterPolicy::name);
  ASSERT_NE(unread, cluster.policies.end());
  EXPECT_EQ(unread->state, "cannot be read: object:1:75: spec.nicSelector is missing");  // the schema's first
}

TEST(Cluster, NodesOfMeasuredPodsAreDrawn) {
  const Cluster cluster = cluster_of(all_kinds());
  const MeasuredPath path{.client = {.address = "10.10.0.5", .soft = true}};
  const std::vector<NodeStatus> drawn = measured_nodes(cluster, {path});
  ASSERT_THAT(drawn, SizeIs(1));
  EXPECT_EQ(drawn[0].name, "gpu-1");
  ASSERT_THAT(drawn[0].pods, SizeIs(1));
  EXPECT_EQ(drawn[0].pods[0].interfaces[0].pf, "0000:01:00.0");
  EXPECT_TRUE(drawn[0].pods[0].interfaces[0].soft);
  EXPECT_EQ(drawn[0].pfs[0].vfs[1].owner, "llm/w");
  EXPECT_EQ(drawn[0].pfs[0].vfs[0].owner, "");
  EXPECT_THAT(measured_nodes(cluster, {}), IsEmpty());
}

TEST(ClusterGolden, AllKinds) {
  expect_golden(testdata() / "report/cluster.html", cluster_html(cluster_of(all_kinds())).text());
}

TEST(ClusterGolden, NothingThere) {
  expect_golden(testdata() / "report/cluster-empty.html", cluster_html(cluster_of({})).text());
}

TEST(ClusterHtml, EscapesEverythingFromOutside) {
  const std::string evil = "<script>alert('x')</script>\"><img src=y onerror=z>";
  Cluster cluster;
  ClusterPf pf{.name = evil, .pci = evil, .link = evil, .resources = {evil}};
  cluster.nodes.push_back({.name = evil, .conditions = {evil}, .state = evil + ": " + evil, .pfs = {pf}});
  cluster.policies.push_back({.ns = evil,
                              .name = evil,
                              .asks = evil,
                              .nodes = evil,
                              .nics = evil,
                              .state = evil + ": " + evil,
                              .where = {{.nodes = {evil}, .pfs = {evil}, .state = evil, .message = evil}}});
  cluster.networks.push_back({.ns = evil, .name = evil, .resource = evil, .plugins = evil, .addresses = evil});
  cluster.pods.push_back(
      {.ns = evil,
       .name = evil,
       .node = evil,
       .phase = evil,
       .interfaces = {{.name = evil, .network = evil, .vf = evil, .rdma = evil, .addresses = {evil}}},
       .missing = {evil}});
  cluster.unknown = {evil};
  const std::string html = cluster_html(cluster).text();
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
}

// 5,000 nodes: what stands badly is shown, the rest is counted.
TEST(ClusterHtml, IsCutWhereItWouldBeTooLong) {
  Cluster cluster;
  for (int i = 0; i < 5000; ++i)
    cluster.nodes.push_back({.name = fmt::format("node-{}", i), .conditions = {"Ready"}, .state = "Succeeded"});
  for (int i = 0; i < 5000; ++i)
    cluster.pods.push_back({.ns = "llm", .name = fmt::format("pod-{}", i), .missing = {"llm/rail0"}});
  const std::string html = cluster_html(cluster).text();
  EXPECT_NE(html.find("node-255<"), std::string::npos);
  EXPECT_EQ(html.find("node-256<"), std::string::npos);
  EXPECT_NE(html.find("and 4744 more nodes"), std::string::npos);
  EXPECT_NE(html.find("and 4488 more pods"), std::string::npos);
  EXPECT_LT(html.size(), 300'000U);
}

}  // namespace
}  // namespace railbed::report
