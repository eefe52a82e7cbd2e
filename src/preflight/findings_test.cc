// SPDX-License-Identifier: Apache-2.0
#include "preflight/findings.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "preflight/test_objects.h"

namespace railbed::preflight {
namespace {

using doc::Value;

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

std::string told(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : findings)
    out += fmt::format("{}{} | {} | {}\n", one.weight == Weight::kAgainst ? "! " : "", one.what, one.where, one.todo);
  return out;
}

// A container's command line as an object of it.
Value running(const std::string& image, const std::string& args) {
  return workload("DaemonSet", "tools", "", image, args);
}

struct ClusterCase {
  void (*plant)(ClusterLook& look);
  const char* told;
};

TEST(PreflightOfACluster, SaysWhatStandsAgainstRailbed) {
  const ClusterCase cases[] = {
      {[](ClusterLook&) {}, ""},
      {[](ClusterLook& look) { look.version = "v1.29.14-gke.3"; },
       "! Kubernetes is v1.29.14-gke.3, railbed requires 1.30 or later | API server https://10.0.0.1:6443 | upgrade "
       "the cluster first\n"},
      {[](ClusterLook& look) { look.version = "v1.30.0"; }, ""},
      {[](ClusterLook& look) { look.version = "v2.0"; }, ""},
      {[](ClusterLook& look) { look.version = "next"; },
       "! Kubernetes is of no known version, railbed requires 1.30 or later | API server https://10.0.0.1:6443 | "
       "upgrade the cluster first\n"},
      {[](ClusterLook& look) { look.groups = {"apps/v1"}; },
       "! there are no ValidatingAdmissionPolicies, which limit what agents may write | API server "
       "https://10.0.0.1:6443 | turn on the API admissionregistration.k8s.io/v1\n"},
      {[](ClusterLook& look) { look.groups.emplace_back("security.openshift.io/v1"); },
       "this is OpenShift, where railbed is not tested | API group security.openshift.io | agents require a "
       "SecurityContextConstraints like `privileged`; report what else is missing\n"},
      {[](ClusterLook& look) { look.nodes.clear(); },
       "! no node runs Linux, so no agent can run | nodes | add nodes\n"},
      {[](ClusterLook& look) {
         for (int i = 0; i < 7; ++i) look.nodes.push_back(node(fmt::format("arm{}", i), "arm64"));
       },
       "! this image is for amd64, these nodes are not | nodes arm0 (arm64), arm1 (arm64), arm2 (arm64), arm3 (arm64), "
       "arm4 (arm64) and 2 more | build the image on such a machine, too, or give the DaemonSet a nodeSelector\n"},
      {[](ClusterLook& look) { look.nodes.push_back(node("node3", "amd64", "", "cri-o://1.36.0")); },
       "these nodes run CRI-O, with which railbed is not tested | nodes node3 | test one node first\n"},
      {[](ClusterLook& look) {
         look.nodes.push_back(node("node3", "amd64", "", "containerd://2.0.5", "4.18.0-553.el8.x86_64"));
         look.nodes.push_back(node("node4", "amd64", "", "containerd://2.0.5", "5.14.0-427.el9.x86_64"));
       },
       "these nodes run Linux before 5.14, with which railbed is not tested | nodes node3 (4.18.0-553.el8.x86_64) | "
       "test one node first\n"},
      {[](ClusterLook& look) {
         look.nodes.push_back(node("gpu1", "amd64", R"("feature.node.kubernetes.io/network-sriov.capable": "true")"));
       },
       "Node Feature Discovery found no NIC that can make VFs | nodes node1, node2 | pods get no VFs there; check that "
       "SR-IOV is enabled in the firmware of NIC and machine\n"},
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
       "to switch nodes over, one by one\n"},
      {[](ClusterLook& look) {
         look.workloads = {
             workload("DaemonSet", "multus", "", "ghcr.io/x/multus-cni:v4", R"("--multus-conf-file=auto")")};
       },
       "Multus runs; once railbed's agent answers on a node, pods get their networks from railbed | DaemonSet "
       "sys/multus | docs/switching.md describes how to switch nodes over, one by one; finally no node needs both\n"
       "Multus generates its configuration: 00-multus.conf, which sorts after railbed's 00-a-railbed.json | DaemonSet "
       "sys/multus | nothing: Multus reads *.conf and *.conflist, so it never delegates to railbed's file\n"},
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
       "kube-system/cilium-config | set cni.exclusive=false in Cilium's Helm values, and restart its agents\n"},
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
       "lacks are reported by Events instead\n"},
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
       "kube-system/net0 | remove node_slice_size from the networks that railbed will serve\n"},
      {[](ClusterLook& look) {
         look.own_namespace = json(R"({"metadata": {"name": "railbed",
                                       "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})");
       },
       "! Pod Security admits restricted pods only, and agents are privileged | Namespace railbed | kubectl label "
       "--overwrite namespace railbed pod-security.kubernetes.io/enforce=privileged\n"},
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
       "deploy/rbac of this version; where the namespace is another one, its bindings must name it\n"},
      {[](ClusterLook& look) {
         look.nodes.clear();
         look.unknown = {"Node: GET /api/v1/nodes: 403 Forbidden"};
       },
       "! this could not be checked and may block railbed | Node: GET /api/v1/nodes: 403 Forbidden | grant the rights "
       "in deploy/preflight, and check again\n"},
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
       "its pods may reconfigure the fabric; run a subnet manager on a host\n"},
  };
  for (const ClusterCase& one : cases) {
    ClusterLook look = good();
    one.plant(look);
    EXPECT_EQ(told(cluster_findings(look, "amd64")), one.told);
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
  EXPECT_EQ(told(cluster_findings(of("devs"), "amd64")), fmt::format(fmt::runtime(said), "devs"));
  EXPECT_EQ(told(cluster_findings(of("system:authenticated"), "amd64")),
            "! " + fmt::format(fmt::runtime(said), "system:authenticated"));
  ClusterLook restricted = of("devs");
  restricted.workloads = {
      workload("DaemonSet", "railbed-agent", "", "railbed-node:1", R"("agent", "--tenant-definitions", "restrict")")};
  EXPECT_EQ(told(cluster_findings(restricted, "amd64")), "");
  restricted.workloads = {
      workload("DaemonSet", "railbed-agent", "", "railbed-node:1", R"("agent", "--tenant-definitions", "allow")")};
  EXPECT_NE(told(cluster_findings(restricted, "amd64")), "");
}

struct NodeCase {
  void (*plant)(NodeLook& look);
  const char* told;
};

TEST(PreflightOfANode, SaysWhatStandsAgainstRailbed) {
  const NodeCase cases[] = {
      {[](NodeLook&) {}, ""},
      {[](NodeLook& look) {
         look.bin = Folder::kReadOnly;
         look.conf = Folder::kReadOnly;
       },
       "! the folder of CNI plugins cannot be written | node node1: /opt/cni/bin | set --bin-dir of the init "
       "container `shims` to the directory of this node's runtime\n"
       "! the folder of CNI configurations cannot be written | node node1: /etc/cni/net.d | set --cni-config of the "
       "agent to the directory of this node's runtime\n"},
      {[](NodeLook& look) {
         look.conf = Folder::kMissing;
         look.files.clear();
       },
       "! there is no folder of CNI configurations | node node1: /etc/cni/net.d | set --cni-config of the agent to the "
       "directory of this node's runtime\n"},
      {[](NodeLook& look) {
         look.files = {{"00-0-first.conf", R"({"type": "bridge"})"}, {"00-0-first.bak", R"({"type": "bridge"})"}};
       },
       "! this file sorts before railbed's 00-a-railbed.json, so the runtime would not ask railbed | node node1: "
       "/etc/cni/net.d/00-0-first.conf | rename it to begin with 00-b or later\n"},
      {[](NodeLook& look) { look.files = {{"00-multus.conf", R"({"type": "multus"})"}}; },
       "! no configuration of a default network found; pods wait until there is one | node node1: /etc/cni/net.d | "
       "install the cluster's network first (Calico, Cilium, flannel, …)\n"},
      {[](NodeLook& look) { look.files.push_back({"00-multus.conf.cilium_bak", "{}"}); },
       "! Cilium has renamed the CNI configurations of others (*.cilium_bak) | node node1: /etc/cni/net.d | set "
       "cni.exclusive=false in Cilium's Helm values, and restart its agents\n"},
      {[](NodeLook& look) { look.pfs.clear(); },
       "no NIC here can make VFs | node node1 | pods get no VFs here; check that SR-IOV is enabled in the firmware of "
       "NIC and machine\n"},
      {[](NodeLook& look) { look.topology_policy = ""; },
       "the kubelet's Topology Manager is off: VFs, GPUs and CPUs of a pod may be of different NUMA nodes | node node1 | "
       "set topologyManagerPolicy: best-effort (or stricter) and cpuManagerPolicy: static in the kubelet's "
       "configuration\n"},
      {[](NodeLook& look) { look.topology_policy.reset(); }, ""},
  };
  for (const NodeCase& one : cases) {
    NodeLook look = good_node();
    one.plant(look);
    EXPECT_EQ(told(node_findings(look)), one.told);
  }
}

}  // namespace
}  // namespace railbed::preflight
