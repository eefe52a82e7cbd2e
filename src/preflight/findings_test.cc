// SPDX-License-Identifier: Apache-2.0
#include "preflight/findings.h"

#include <set>

#include <gtest/gtest.h>

#include "base/format.h"
#include "findings/explain.h"
#include "preflight/test_objects.h"

namespace railbed::preflight {
namespace {

using doc::Value;
using findings::Finding;

Value node(const std::string& name, const std::string& architecture = "amd64", const std::string& labels = "",
           const std::string& runtime = "containerd://2.0.5", const std::string& kernel = "6.1.0-26-amd64") {
  return json(fmt::format(
      R"({{"kind": "Node", "metadata": {{"name": "{}", "labels": {{{}}}}}, "status": {{"nodeInfo": )"
      R"({{"operatingSystem": "linux", "architecture": "{}", "containerRuntimeVersion": "{}", "kernelVersion": "{}"}}}}}})",
      name, labels, architecture, runtime, kernel));
}
Value workload(const std::string& kind, const std::string& name, const std::string& label, const std::string& image,
               const std::string& args = "") {
  return json(fmt::format(
      R"({{"kind": "{}", "metadata": {{"namespace": "sys", "name": "{}"}}, "spec": {{"template": )"
      R"({{"metadata": {{"labels": {{{}}}}}, "spec": {{"containers": [{{"image": "{}", "args": [{}]}}]}}}}}}}})",
      kind, name, label, image, args));
}
Value definition(const std::string& name, const std::string& metadata) {
  return json(fmt::format(R"({{"kind": "CustomResourceDefinition", "metadata": {{"name": "{}"{}}}}})", name, metadata));
}

// A cluster that has nothing against railbed.
ClusterLook good() {
  ClusterLook look;
  look.server = "https://10.0.0.1:6443";
  look.ns = "railbed";
  look.version = "v1.36.2";
  look.groups = {"apps/v1", "admissionregistration.k8s.io/v1"};
  look.nodes = {node("node1"), node("node2")};
  look.definitions = {definition("sriovnetworks.sriovnetwork.openshift.io", "")};
  look.workloads = {workload("Deployment", "coredns", "", "coredns:1")};
  return look;
}
NodeLook good_node() {
  return {.name = "node1",
          .conf_dir = "/etc/cni/net.d",
          .bin_dir = "/opt/cni/bin",
          .conf = Folder::kWritable,
          .bin = Folder::kWritable,
          .files = {{"10-bridge.conflist", R"({"plugins": [{"type": "bridge"}]})"}},
          .pfs = {"0000:3b:00.0"},
          .topology_policy = "best-effort"};
}

std::string reported(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : findings)
    out += fmt::format("{}{} | {} | {}\n", one.severity == kBlocks ? "! " : "", one.message, one.subject, one.fix);
  return out;
}

// What a finding has for programs: "RB-NODE-001 node-path".
std::vector<std::string> ids_of(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& one : findings) out.push_back(fmt::format("{} {}", one.id, kind_name(one.subject.kind)));
  return out;
}

// A container's command line as an object of it.
Value running(const std::string& image, const std::string& args) {
  return workload("DaemonSet", "tools", "", image, args);
}

struct ClusterCase {
  void (*plant)(ClusterLook& look);
  const char* reported;
  std::vector<std::string> ids = {};
};

constexpr const char* kOnlyRoles =
    "before Kubernetes 1.30 there are no ValidatingAdmissionPolicies, and agents are limited by their role only: root on "
    "one node can change node states, address leases and the network-status of pods of all nodes | API server "
    "https://10.0.0.1:6443 | install with the component deploy/kubernetes-1.27, where that limit is enough "
    "(docs/security.md, Before Kubernetes 1.30)\n";

std::vector<ClusterCase> server_and_node_cases() {
  return {
      {[](ClusterLook&) {}, ""},
      {[](ClusterLook& look) { look.version = "v1.26.15-gke.3"; },
       "! Kubernetes is v1.26.15-gke.3, railbed requires 1.27 or later; missing: tests with an API server of that "
       "version | API server https://10.0.0.1:6443 | upgrade the cluster first\n",
       {"RB-CLUSTER-002 api-server"}},
      {[](ClusterLook& look) { look.version = "v1.24.17"; },
       "! Kubernetes is v1.24.17, railbed requires 1.27 or later; missing: rules in definitions of kinds (CEL), and "
       "updates of a DaemonSet that start the next pod first; tests with an API server of that version | API server "
       "https://10.0.0.1:6443 | upgrade the cluster first\n",
       {"RB-CLUSTER-002 api-server"}},
      {[](ClusterLook& look) { look.version = "v1.18.20"; },
       "! Kubernetes is v1.18.20, railbed requires 1.27 or later; missing: the API events.k8s.io/v1; server-side apply; "
       "rules in definitions of kinds (CEL), and updates of a DaemonSet that start the next pod first; tests with an API "
       "server of that version | API server https://10.0.0.1:6443 | upgrade the cluster first\n",
       {"RB-CLUSTER-002 api-server"}},
      {[](ClusterLook& look) { look.version = "v1.27.0"; }, kOnlyRoles, {"RB-CLUSTER-003 api-server"}},
      {[](ClusterLook& look) { look.version = "v1.29.14-gke.3"; }, kOnlyRoles, {"RB-CLUSTER-003 api-server"}},
      {[](ClusterLook& look) { look.version = "v1.30.0"; }, ""},
      {[](ClusterLook& look) { look.version = "v2.0"; }, ""},
      {[](ClusterLook& look) { look.version = "next"; },
       "! Kubernetes is of no known version, railbed requires 1.27 or later | API server https://10.0.0.1:6443 | "
       "upgrade the cluster first\n",
       {"RB-CLUSTER-002 api-server"}},
      {[](ClusterLook& look) { look.groups = {"apps/v1"}; },
       "! there are no ValidatingAdmissionPolicies, which limit what agents may write | API server "
       "https://10.0.0.1:6443 | turn on the API admissionregistration.k8s.io/v1\n",
       {"RB-CLUSTER-003 api-server"}},
      {[](ClusterLook& look) { look.groups.emplace_back("security.openshift.io/v1"); },
       "this is OpenShift, where railbed is not tested | API group security.openshift.io | agents require a "
       "SecurityContextConstraints like `privileged`; report what else is missing\n",
       {"RB-CLUSTER-004 object"}},
      {[](ClusterLook& look) { look.nodes.clear(); },
       "! no node runs Linux, so no agent can run | nodes | add nodes\n",
       {"RB-CLUSTER-005 nodes"}},
      {[](ClusterLook& look) {
         for (int i = 0; i < 7; ++i) look.nodes.push_back(node(fmt::format("arm{}", i), "arm64"));
       },
       "! this image is for amd64, these nodes are not | nodes arm0 (arm64), arm1 (arm64), arm2 (arm64), arm3 (arm64), "
       "arm4 (arm64) and 2 more | build the image on such a machine, too, or give the DaemonSet a nodeSelector\n",
       {"RB-CLUSTER-006 nodes"}},
      {[](ClusterLook& look) { look.nodes.push_back(node("node3", "amd64", "", "cri-o://1.36.0")); },
       "these nodes run CRI-O, with which railbed is not tested | nodes node3 | test one node first\n",
       {"RB-CLUSTER-007 nodes"}},
      {[](ClusterLook& look) {
         look.nodes.push_back(node("node3", "amd64", "", "containerd://2.0.5", "4.18.0-553.el8.x86_64"));
         look.nodes.push_back(node("node4", "amd64", "", "containerd://2.0.5", "5.14.0-427.el9.x86_64"));
       },
       "these nodes run Linux before 5.14, with which railbed is not tested | nodes node3 (4.18.0-553.el8.x86_64) | "
       "test one node first\n",
       {"RB-CLUSTER-008 nodes"}},
      {[](ClusterLook& look) {
         look.nodes.push_back(node("gpu1", "amd64", R"("feature.node.kubernetes.io/network-sriov.capable": "true")"));
       },
       "Node Feature Discovery found no NIC that can make VFs | nodes node1, node2 | pods get no VFs there; check that "
       "SR-IOV is enabled in the firmware of NIC and machine\n",
       {"RB-CLUSTER-009 nodes"}},
  };
}

std::vector<ClusterCase> object_cases() {
  return {
      {[](ClusterLook& look) {
         look.workloads = {
             workload("Deployment", "sriov-network-operator", R"("name": "sriov-network-operator")", "operator:1"),
             workload("DaemonSet", "config", R"("app": "sriov-network-config-daemon")", "daemon:1"),
             workload("DaemonSet", "plugin", "", "ghcr.io/x/sriov-network-device-plugin:v3"),
             workload("DaemonSet", "whereabouts", "", "ghcr.io/x/whereabouts:v0.9")};
       },
       "! the SR-IOV operator runs: railbed writes only for nodes that were taken over | Deployment "
       "sys/sriov-network-operator | docs/switching.md describes how to switch nodes over, one by one\n"
       "! the SR-IOV operator's config daemon runs: railbed changes no VF on its nodes | DaemonSet sys/config | remove "
       "nodes from configDaemonNodeSelector of the SriovOperatorConfig, one by one\n"
       "! the SR-IOV network device plugin runs: two plugins would offer VFs of one resource name | DaemonSet "
       "sys/plugin | remove it from the nodes that railbed takes over\n"
       "whereabouts allocates addresses in this cluster | DaemonSet sys/whereabouts | docs/switching.md describes how "
       "to switch nodes over, one by one\n",
       {"RB-CLUSTER-010 object", "RB-CLUSTER-011 object", "RB-CLUSTER-012 object", "RB-CLUSTER-013 object"}},
      {[](ClusterLook& look) {
         look.workloads = {
             workload("DaemonSet", "multus", "", "ghcr.io/x/multus-cni:v4", R"("--multus-conf-file=auto")")};
       },
       "Multus runs; once railbed's agent answers on a node, pods get their networks from railbed | DaemonSet "
       "sys/multus | docs/switching.md describes how to switch nodes over, one by one; finally no node needs both\n"
       "Multus generates its configuration: 00-multus.conf, which sorts after railbed's 00-a-railbed.json | DaemonSet "
       "sys/multus | nothing: Multus reads *.conf and *.conflist, so it never delegates to railbed's file\n",
       {"RB-CLUSTER-015 object", "RB-CLUSTER-016 object"}},
      {[](ClusterLook& look) {
         look.config_maps = {
             json(R"({"kind": "ConfigMap", "metadata": {"namespace": "kube-system", "name": "multus-daemon-config"},
                     "data": {"daemon-config.json": "{\"multusConfigFile\": \"auto\"}"}})"),
             json(R"({"kind": "ConfigMap", "metadata": {"namespace": "kube-system", "name": "cilium-config"},
                     "data": {"cni-exclusive": "true"}})")};
       },
       "Multus generates its configuration: 00-multus.conf, which sorts after railbed's 00-a-railbed.json | ConfigMap "
       "kube-system/multus-daemon-config | nothing: Multus reads *.conf and *.conflist, so it never delegates to "
       "railbed's file\n"
       "! Cilium renames the CNI configurations of others, railbed's too (cni-exclusive: \"true\") | ConfigMap "
       "kube-system/cilium-config | set cni.exclusive=false in Cilium's Helm values, and restart its agents\n",
       {"RB-CLUSTER-016 object", "RB-CLUSTER-017 object"}},
      {[](ClusterLook& look) {
         look.config_maps = {
             json(R"({"kind": "ConfigMap", "metadata": {"namespace": "kube-system", "name": "multus-daemon-config"},
                     "data": {"daemon-config.json": "{\"multusConfigFile\": \"/x.conf\"}", "other": "\"multusConfigFile\""}})"),
             json(R"({"kind": "ConfigMap", "metadata": {"namespace": "kube-system", "name": "cilium-config"},
                     "data": {"cni-exclusive": "false"}})")};
       },
       ""},
      {[](ClusterLook& look) {
         look.definitions = {
             definition("sriovnetworks.sriovnetwork.openshift.io", R"(, "labels": {"olm.managed": "true"})"),
             definition("network-attachment-definitions.k8s.cni.cncf.io",
                        R"(, "annotations": {"meta.helm.sh/release-name": "multus"})"),
             definition("certificates.cert-manager.io", R"(, "labels": {"olm.managed": "true"})")};
       },
       "! this definition is managed by the Operator Lifecycle Manager, which would conflict with railbed | "
       "CustomResourceDefinition sriovnetworks.sriovnetwork.openshift.io | remove "
       "crds/sriovnetworks.sriovnetwork.openshift.io.yaml from your kustomization; fields that the definition lacks "
       "are reported by Events instead\n"
       "! this definition is managed by the Helm release multus, which would conflict with railbed | "
       "CustomResourceDefinition network-attachment-definitions.k8s.cni.cncf.io | remove "
       "crds/network-attachment-definitions.k8s.cni.cncf.io.yaml from your kustomization; fields that the definition "
       "lacks are reported by Events instead\n",
       {"RB-CLUSTER-018 object", "RB-CLUSTER-018 object"}},
      {[](ClusterLook& look) {
         look.pools = {json(R"({"kind": "IPPool", "metadata": {"namespace": "kube-system", "name": "10.1.0.0-16"},
                               "spec": {"allocations": {"1": {"podref": "a/b"}, "2": {"podref": "a/c"}}}})"),
                       json(R"({"kind": "IPPool", "metadata": {"namespace": "kube-system", "name": "10.2.0.0-16"},
                               "spec": {"allocations": {}}})"),
                       json(R"({"kind": "NodeSlicePool", "metadata": {"namespace": "kube-system", "name": "net0"}})")};
       },
       "! whereabouts has allocated addresses to pods: railbed allocates none of these ranges until they are taken "
       "over | IPPool kube-system/10.1.0.0-16 (2) | docs/switching.md describes how to switch nodes over, one by one\n"
       "! whereabouts gives each node a slice of a range (node_slice_size), which railbed refuses | NodeSlicePool "
       "kube-system/net0 | remove node_slice_size from the networks that railbed will serve\n",
       {"RB-CLUSTER-019 object", "RB-CLUSTER-020 object"}},
      {[](ClusterLook& look) {
         look.own_namespace = json(R"({"metadata": {"name": "railbed",
                                       "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})");
       },
       "! Pod Security admits restricted pods only, and agents are privileged | Namespace railbed | kubectl label "
       "--overwrite namespace railbed pod-security.kubernetes.io/enforce=privileged\n",
       {"RB-CLUSTER-022 object"}},
      {[](ClusterLook& look) {
         look.own_namespace = json(R"({"metadata": {"name": "railbed",
                                       "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})");
       },
       ""},
      {[](ClusterLook& look) {
         look.missing_rights = {{"railbed-agent", "patch pods/status"},
                                {"railbed-operator", "get leases in namespace railbed"},
                                {"railbed-agent", "list pods"}};
       },
       "! railbed-agent may not patch pods/status, list pods | ServiceAccount railbed/railbed-agent | apply deploy/rbac "
       "of this version; where the namespace is another one, its bindings must name it\n"
       "! railbed-operator may not get leases in namespace railbed | ServiceAccount railbed/railbed-operator | apply "
       "deploy/rbac of this version; where the namespace is another one, its bindings must name it\n",
       {"RB-CLUSTER-023 object", "RB-CLUSTER-023 object"}},
      {[](ClusterLook& look) {
         look.nodes.clear();
         look.unknown = {"Node: GET /api/v1/nodes: 403 Forbidden"};
       },
       "! this could not be checked and may block railbed | Node: GET /api/v1/nodes: 403 Forbidden | grant the rights "
       "in deploy/preflight, and check again\n",
       {"RB-CLUSTER-001 request"}},
      {[](ClusterLook& look) {
         look.workloads = {running("quay.io/x/opensm:3", ""),
                           running("tools:1", R"("sh", "-c", "ibping -S & sleep 1")"),
                           running("opensmith:1", R"("ibpingd", "/my-sminfo")")};
       },
       "this runs a program that sends management datagrams; with railbed, pods get umad only where the policy says so, "
       "and never issm | DaemonSet sys/tools | annotate the policy of its resource with railbed.dev/mad: \"true\" where "
       "its pods may reconfigure the fabric; run a subnet manager on a host\n"
       "this runs a program that sends management datagrams; with railbed, pods get umad only where the policy says so, "
       "and never issm | DaemonSet sys/tools | annotate the policy of its resource with railbed.dev/mad: \"true\" where "
       "its pods may reconfigure the fabric; run a subnet manager on a host\n",
       {"RB-CLUSTER-014 object", "RB-CLUSTER-014 object"}},
  };
}

Value policy_in(const std::string& ns, const std::string& resource) {
  return json(fmt::format(R"({{"kind": "SriovNetworkNodePolicy", "metadata": {{"namespace": "{}", "name": "p"}},
      "spec": {{"resourceName": "{}"}}}})",
                          ns, resource));
}
Value attachment_of(const std::string& name, const std::string& resource) {
  return json(fmt::format(R"({{"kind": "NetworkAttachmentDefinition", "metadata": {{"namespace": "ai", "name": "{}",
      "annotations": {{"k8s.v1.cni.cncf.io/resourceName": "{}"}}}}}})",
                          name, resource));
}

std::vector<ClusterCase> naming_cases() {
  return {
      {[](ClusterLook& look) {
         look.policies = {policy_in("nvidia-network-operator", "sriov_rdma_vf")};
         look.attachments = {attachment_of("net", "nvidia.com/sriov_rdma_vf")};
       },
       "! resources of policies are named nvidia.com/… here, and railbed's operator would name them openshift.io/…: pods "
       "that request the former would stay Pending | nvidia.com (NetworkAttachmentDefinition ai/net) | set "
       "--resource-prefix=nvidia.com of the operator; agents follow it\n",
       {"RB-CLUSTER-025 object"}},
      {[](ClusterLook& look) {
         look.policies = {policy_in("railbed", "rail0")};
         look.attachments = {attachment_of("net", "openshift.io/rail0"), attachment_of("gpu", "nvidia.com/gpu")};
       },
       ""},
      {[](ClusterLook& look) {
         look.policies = {policy_in("railbed", "rail0")};
         look.attachments = {attachment_of("a", "openshift.io/rail0"), attachment_of("b", "nvidia.com/rail0")};
       },
       "! resources of policies are named with several prefixes; railbed gives all of them one, and pods that request "
       "another one stay Pending | nvidia.com (NetworkAttachmentDefinition ai/b), openshift.io "
       "(NetworkAttachmentDefinition ai/a) | choose one, set it as --resource-prefix of the operator, and change the pods "
       "that request the others\n",
       {"RB-CLUSTER-025 object"}},
      {[](ClusterLook& look) { look.policies = {policy_in("team", "rail0")}; },
       "policies and networks of these namespaces do not count: they get the condition Ignored | Namespace team | where "
       "they are to count, set "
       "--policy-namespaces=nvidia-network-operator,openshift-sriov-network-operator,sriov-network-operator,team of the "
       "operator\n",
       {"RB-CLUSTER-024 object"}},
      {[](ClusterLook& look) {
         look.workloads = {workload("DaemonSet", "agents", "", "railbed-node:1", R"("agent", "--resource-prefix=a")")};
       },
       "the agents were given --resource-prefix a, the operator openshift.io; the operator's counts | DaemonSet of the "
       "agents | remove the option of the agents\n",
       {"RB-CLUSTER-026 object"}},
  };
}

std::vector<ClusterCase> cluster_cases() {
  std::vector<ClusterCase> all = server_and_node_cases();
  for (ClusterCase& one : object_cases()) all.push_back(std::move(one));
  for (ClusterCase& one : naming_cases()) all.push_back(std::move(one));
  return all;
}

TEST(PreflightOfACluster, SaysWhatStandsAgainstRailbed) {
  for (const ClusterCase& one : cluster_cases()) {
    ClusterLook look = good();
    one.plant(look);
    EXPECT_EQ(reported(cluster_findings(look, "amd64")), one.reported);
    EXPECT_EQ(ids_of(cluster_findings(look, "amd64")), one.ids) << one.reported;
  }
}

Value role(const std::string& name) {
  return json(fmt::format(R"({{"kind": "ClusterRole", "metadata": {{"name": "{}"}}, "rules": [{{"apiGroups":
      ["k8s.cni.cncf.io"], "resources": ["*"], "verbs": ["*"]}}]}})",
                          name));
}
Value binding(const std::string& role, const std::string& group) {
  return json(fmt::format(R"({{"kind": "RoleBinding", "metadata": {{"name": "b", "namespace": "ai"}}, "roleRef":
      {{"kind": "ClusterRole", "name": "{}"}}, "subjects": [{{"kind": "Group", "name": "{}"}}]}})",
                          role, group));
}

TEST(PreflightOfACluster, SaysWhoMayWriteDefinitions) {
  const auto of = [](const std::string& group) {
    ClusterLook look = good();
    look.roles = {role("edit")};
    look.bindings = {binding("edit", group)};
    return look;
  };
  const std::string said =
      "users other than administrators may write network definitions, which can use any interface of a node and "
      "execute its plugins as root | Group {} by ClusterRole edit in namespace ai | remove the right, or run agents with "
      "--tenant-definitions restrict (docs/meta.md)\n";
  EXPECT_EQ(reported(cluster_findings(of("devs"), "amd64")), fmt::format(fmt::runtime(said), "devs"));
  EXPECT_EQ(ids_of(cluster_findings(of("devs"), "amd64")), std::vector<std::string>{"RB-CLUSTER-021 object"});
  EXPECT_EQ(reported(cluster_findings(of("system:authenticated"), "amd64")),
            "! " + fmt::format(fmt::runtime(said), "system:authenticated"));
  ClusterLook restricted = of("devs");
  restricted.workloads = {
      workload("DaemonSet", "railbed-agent", "", "railbed-node:1", R"("agent", "--tenant-definitions", "restrict")")};
  EXPECT_EQ(reported(cluster_findings(restricted, "amd64")), "");
  restricted.workloads = {
      workload("DaemonSet", "railbed-agent", "", "railbed-node:1", R"("agent", "--tenant-definitions", "allow")")};
  EXPECT_NE(reported(cluster_findings(restricted, "amd64")), "");
}

struct NodeCase {
  void (*plant)(NodeLook& look);
  const char* reported;
  std::vector<std::string> ids = {};
};

std::vector<NodeCase> node_cases() {
  return {
      {[](NodeLook&) {}, ""},
      {[](NodeLook& look) {
         look.bin = Folder::kReadOnly;
         look.conf = Folder::kReadOnly;
       },
       "! the folder of CNI plugins cannot be written | node node1: /opt/cni/bin | set --bin-dir of the init "
       "container `shims` to the directory of this node's runtime\n"
       "! the folder of CNI configurations cannot be written | node node1: /etc/cni/net.d | set --cni-config of the "
       "agent to the directory of this node's runtime\n",
       {"RB-NODE-001 node-path", "RB-NODE-001 node-path"}},
      {[](NodeLook& look) {
         look.conf = Folder::kMissing;
         look.files.clear();
       },
       "! there is no folder of CNI configurations | node node1: /etc/cni/net.d | set --cni-config of the agent to the "
       "directory of this node's runtime\n",
       {"RB-NODE-002 node-path"}},
      {[](NodeLook& look) {
         look.files = {{"00-0-first.conf", R"({"type": "bridge"})"}, {"00-0-first.bak", R"({"type": "bridge"})"}};
       },
       "! this file sorts before railbed's 00-a-railbed.json, so the runtime would not ask railbed | node node1: "
       "/etc/cni/net.d/00-0-first.conf | rename it to begin with 00-b or later\n",
       {"RB-NODE-003 node-path"}},
      {[](NodeLook& look) { look.files = {{"00-multus.conf", R"({"type": "multus"})"}}; },
       "! no configuration of a default network found; pods wait until there is one | node node1: /etc/cni/net.d | "
       "install the cluster's network first (Calico, Cilium, flannel, …)\n",
       {"RB-NODE-005 node-path"}},
      {[](NodeLook& look) { look.files.push_back({"00-multus.conf.cilium_bak", "{}"}); },
       "! Cilium has renamed the CNI configurations of others (*.cilium_bak) | node node1: /etc/cni/net.d | set "
       "cni.exclusive=false in Cilium's Helm values, and restart its agents\n",
       {"RB-NODE-004 node-path"}},
      {[](NodeLook& look) { look.pfs.clear(); },
       "no NIC here can make VFs | node node1 | pods get no VFs here; check that SR-IOV is enabled in the firmware of "
       "NIC and machine\n",
       {"RB-NODE-006 node"}},
      {[](NodeLook& look) { look.topology_policy = ""; },
       "the kubelet's Topology Manager is off: VFs, GPUs and CPUs of a pod may be of different NUMA nodes | node node1 | "
       "set topologyManagerPolicy: best-effort (or stricter) and cpuManagerPolicy: static in the kubelet's "
       "configuration\n",
       {"RB-NODE-007 node"}},
      {[](NodeLook& look) { look.topology_policy.reset(); }, ""},
  };
}

TEST(PreflightOfANode, SaysWhatStandsAgainstRailbed) {
  for (const NodeCase& one : node_cases()) {
    NodeLook look = good_node();
    one.plant(look);
    EXPECT_EQ(reported(node_findings(look)), one.reported);
    EXPECT_EQ(ids_of(node_findings(look)), one.ids) << one.reported;
  }
}

// Each explained id has a case above, and each case is explained. That code gives no other id is tests/tidy's.
TEST(Preflight, FindingsAreExplainedAndTested) {
  std::set<std::string> explained;
  for (const findings::Explanation& one : findings::explanations())
    if (one.page == "docs/findings/cluster.md") explained.emplace(one.id);
  std::set<std::string> given = {"RB-CLUSTER-021"};  // PreflightOfACluster.SaysWhoMayWriteDefinitions
  const auto add = [&](const std::vector<std::string>& ids) {
    for (const std::string& one : ids) given.insert(one.substr(0, one.find(' ')));
  };
  for (const ClusterCase& one : cluster_cases()) add(one.ids);
  for (const NodeCase& one : node_cases()) add(one.ids);
  EXPECT_EQ(given, explained);
}

}  // namespace
}  // namespace railbed::preflight
