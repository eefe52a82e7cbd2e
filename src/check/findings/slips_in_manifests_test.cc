// SPDX-License-Identifier: Apache-2.0
// A slip is an error in a manifest, and a warning where the text is not applied as it is: in a page, a template, a
// patch. What may be right for a newer version is a warning everywhere.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "check/case_files.h"

namespace railbed::check {
namespace {

std::string policy_with(const std::string& spec, const std::string& head = "kind: SriovNetworkNodePolicy\n") {
  return "apiVersion: sriovnetwork.openshift.io/v1\n" + head +
         "metadata: {name: rail0, namespace: sriov-network-operator}\nspec:\n  resourceName: rail0\n"
         "  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: \"true\"}\n  numVfs: 8\n"
         "  nicSelector:\n    pfNames: [\"ens1f0np0\"]\n" +
         spec;
}

std::string definition_with(const std::string& config) {
  return "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a, namespace: ai}\n"
         "spec:\n  config: '" +
         config + "'\n";
}

std::string pod_with(const std::string& annotations, const std::string& container) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ai, annotations: {" + annotations +
         "}}\nspec:\n  containers:\n  - {name: c, image: a.example/b:1, " + container + "}\n";
}

// "error high", "warning", …: of the first finding with the id; empty for none.
std::string weight_of(const std::string& name, const std::string& text, std::string_view id) {
  const Report report = testing_cases::report_of(name, text);
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == id)
      return fmt::format("{}{}", severity_name(one.severity),
                         one.confidence == doc::Confidence::kHigh ? "" : " not sure");
  return "";
}

struct WeightCase {
  const char* about;
  std::string text;
  const char* id;
  const char* in_manifest;
  const char* in_page;
};

TEST(SlipsInManifests, AreErrorsAndWarningsInPages) {
  const WeightCase cases[] = {
      {"a field", policy_with("  isRDMA: true\n"), "RB-API-002", "error", "warning"},
      {"a field that resembles none", policy_with("  frobnicate: true\n"), "RB-API-002", "warning", "warning"},
      {"a field beside the right one", policy_with("  isRdma: true\n  isRDMA: true\n"), "RB-API-002", "warning",
       "warning"},
      {"a field of the object around it", policy_with("    deviceType: netdevice\n"), "RB-API-003", "error", "warning"},
      {"a kind", policy_with("", "kind: SriovNetworkNodePolcy\n"), "RB-API-001", "error", "warning"},
      {"a key of a plugin", definition_with(R"({"cniVersion": "1.0.0", "type": "sriov", "spoofChk": "on"})"),
       "RB-CNI-002", "error", "warning"},
      {"a plugin", definition_with(R"({"cniVersion": "1.0.0", "plugins": [{"type": "tunning"}]})"), "RB-CNI-001",
       "warning", "warning"},
      {"a plugin of somebody", definition_with(R"({"cniVersion": "1.0.0", "type": "keelson"})"), "RB-CNI-001", "note",
       "note"},
      {"a plugin, two letters swapped", definition_with(R"({"cniVersion": "1.0.0", "type": "macvlna"})"), "RB-CNI-001",
       "warning", "warning"},
      {"a plugin, the last letter doubled", definition_with(R"({"cniVersion": "1.0.0", "type": "macvlann"})"),
       "RB-CNI-001", "warning", "warning"},
      {"a plugin that is another one with a letter before it",
       definition_with(R"({"cniVersion": "1.0.0", "type": "xtuning"})"), "RB-CNI-001", "warning", "warning"},
      {"a plugin that is another one with a number", definition_with(R"({"cniVersion": "1.0.0", "type": "macvlan2"})"),
       "RB-CNI-001", "warning", "warning"},
      {"a plugin that is another one with a word before it",
       definition_with(R"({"cniVersion": "1.0.0", "type": "my-macvlan"})"), "RB-CNI-001", "note", "note"},
      {"a plugin two letters away", definition_with(R"({"cniVersion": "1.0.0", "type": "mcvlna"})"), "RB-CNI-001",
       "warning", "warning"},
      {"a plugin of others", definition_with(R"({"cniVersion": "1.0.0", "type": "ehost-device"})"), "RB-CNI-001", "",
       ""},
      {"a field in short", policy_with("  devType: netdevice\n"), "RB-API-002", "error", "warning"},
      {"a configuration in short",
       "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a, namespace: ai}\n"
       "spec:\n  conf: '{}'\n",
       "RB-API-002", "error", "warning"},
      {"a field beside the configuration", definition_with(R"({"cniVersion": "1.0.0"})") + "  keelson: a\n",
       "RB-API-002", "error", "warning"},
      {"a field at the top", pod_with("", "tty: true") + "keelson: a\n", "RB-API-002", "error", "warning"},
      {"a field of the pod that resembles none", pod_with("", "tty: true") + "  keelson: a\n", "RB-API-002", "warning",
       "warning"},
      {"a field of a container in the pod", pod_with("", "tty: true") + "  terminationMessagePolicy: File\n",
       "RB-API-003", "error", "warning"},
      {"a field of the pod in a container", pod_with("", "hostNetwork: true"), "RB-API-003", "error", "warning"},
      {"an ipam type", definition_with(R"({"cniVersion": "1.0.0", "type": "sriov", "ipam": {"type": "wherabouts"}})"),
       "RB-IPAM-001", "error", "warning"},
      {"an ipam type of somebody",
       definition_with(R"({"cniVersion": "1.0.0", "type": "sriov", "ipam": {"type": "keelson"}})"), "RB-IPAM-001",
       "note", "note"},
      {"a key of an annotation", pod_with("k8s.v1.cni.cncf.io/network: a", "tty: true"), "RB-ANN-008", "error",
       "warning"},
      {"a key of a network",
       pod_with("k8s.v1.cni.cncf.io/networks: '[{\"name\": \"a\", \"interfaces\": \"net1\"}]'", "tty: true"),
       "RB-ANN-002", "error", "warning"},
      {"a field of a policy in a plugin",
       definition_with(R"({"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1", "isRdma": true})"), "RB-CNI-003",
       "error", "warning"},
      {"a field of a policy that manuals have in this plugin",
       definition_with(R"({"cniVersion": "1.0.0", "type": "host-device", "device": "eth1", "isRdma": true})"),
       "RB-CNI-003", "warning", "warning"},
      {"the same in a chain",
       definition_with(
           R"({"cniVersion": "1.0.0", "plugins": [{"type": "host-device", "device": "eth1", "isRdma": true}]})"),
       "RB-CNI-003", "warning", "warning"},
      {"another field of a policy in this plugin",
       definition_with(R"({"cniVersion": "1.0.0", "type": "host-device", "device": "eth1", "numVfs": 8})"),
       "RB-CNI-003", "error", "warning"},
      {"a number in quotes in a plugin of Open vSwitch",
       definition_with(R"({"cniVersion": "1.0.0", "type": "ovs", "bridge": "br1", "mtu": "1450"})"), "RB-CNI-004",
       "error", "error"},
      {"a number in quotes in its trunk",
       definition_with(R"({"cniVersion": "1.0.0", "type": "ovs", "bridge": "br1", "trunk": [{"id": "42"}]})"),
       "RB-CNI-004", "error", "error"},
      {"a field of a plugin in its ipam",
       definition_with(
           R"({"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1", "ipam": {"type": "dhcp", "mtu": 9000}})"),
       "RB-IPAM-003", "error", "warning"},
      {"an exclusion outside of the range",
       definition_with(
           R"({"cniVersion": "1.0.0", "type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/24", "exclude": ["10.2.0.0/28"]}})"),
       "RB-IPAM-005", "error", "warning"},
      {"a VF without its resource", definition_with(R"({"cniVersion": "1.0.0", "type": "sriov"})"), "RB-NET-002",
       "error", "warning"},
      {"a VF whose address is given",
       definition_with(R"({"cniVersion": "1.0.0", "type": "sriov", "deviceID": "0000:3b:00.2"})"), "RB-NET-002", "",
       ""},
      {"capitals", policy_with("    rootDevices: [\"0000:B1:00.0\"]\n"), "RB-POLICY-018", "error", "warning"},
      {"an MTU that no port has", policy_with("    vendor: \"15b3\"\n  mtu: 12000\n"), "RB-MTU-009", "error", "error"},
      {"a key of the group that resembles none", pod_with("k8s.v1.cni.cncf.io/frobnicate: a", "tty: true"),
       "RB-ANN-008", "warning", "warning"},
      {"a variable of NCCL", pod_with("", "env: [{name: NCCL_IB_HCAS, value: mlx5}]"), "RB-ENV-005", "error",
       "warning"},
      {"a variable beside the right one",
       pod_with("", "env: [{name: NCCL_IB_HCA, value: mlx5}, {name: NCCL_IB_HCAS, value: mlx5}]"), "RB-ENV-005",
       "warning", "warning"},
      {"a word for a number", pod_with("", "env: [{name: NCCL_IB_DISABLE, value: \"off\"}]"), "RB-ENV-006", "error",
       "warning"},
      {"a number that is not listed", pod_with("", "env: [{name: NCCL_CROSS_NIC, value: \"7\"}]"), "RB-ENV-006",
       "warning", "warning"},
  };
  for (const WeightCase& one : cases) {
    EXPECT_EQ(weight_of("a.yaml", one.text, one.id), one.in_manifest) << one.about;
    EXPECT_EQ(weight_of("a.md", "# A page\n\n```yaml\n" + one.text + "```\n", one.id), one.in_page) << one.about;
  }
}

TEST(SlipsInManifests, AreWarningsInTemplatesAndPatches) {
  std::string text = policy_with("  isRDMA: true\n");
  text.replace(text.find("name: rail0"), 11, "name: \"{{ .Values.name }}\"");
  EXPECT_EQ(weight_of("a.yaml", text, "RB-API-002"), "warning");
  EXPECT_EQ(weight_of("a.yaml", policy_with("  isRDMA: true\n  $patch: replace\n"), "RB-API-002"), "warning");
}

// What all plugins have is compared also where nothing is known of the plugin.
TEST(SlipsInManifests, PluginsOfOthersHaveCommonFields) {
  const auto weight = [](const std::string& rest, std::string_view id) {
    for (const char* type : {"ovs", "ovn-k8s-cni-overlay", "cnv-bridge", "accelerated-bridge", "keelson"}) {
      const std::string text =
          definition_with(fmt::format(R"({{"cniVersion": "1.0.0", "type": "{}", {}}})", type, rest));
      const std::string found = weight_of("a.yaml", text, id);
      if (found != "error") return fmt::format("{} of {}", found, type);
    }
    return std::string("error");
  };
  EXPECT_EQ(weight(R"("ipam": {"type": "wherabouts"})", "RB-IPAM-001"), "error");
  EXPECT_EQ(weight(R"("ipam": {"type": "whereabouts", "range": "10.1.0.0/240"})", "RB-IPAM-005"), "error");
  EXPECT_EQ(weight(R"("ipam": {"type": "whereabouts"})", "RB-IPAM-006"), "error");
  EXPECT_EQ(weight(R"("ipMasq": "yes")", "RB-CNI-004"), "error");
  for (const char* type : {"antrea", "keelson"}) {
    const std::string version = fmt::format(R"({{"cniVersion": "3.1", "type": "{}"}})", type);
    EXPECT_EQ(weight_of("a.yaml", definition_with(version), "RB-CNI-005"), "error") << type;
    const std::string own_ipam =
        fmt::format(R"({{"cniVersion": "1.0.0", "type": "{}", "ipam": {{"mode": "x"}}}})", type);
    EXPECT_EQ(weight_of("a.yaml", definition_with(own_ipam), "RB-IPAM-006"), "") << type << ": a shape of its own";
  }
  const std::string calico =
      R"({"cniVersion": "1.0.0", "type": "calico", "ipam": {"type": "host-local", "subnet": "usePodCidr"}})";
  EXPECT_EQ(weight_of("a.yaml", definition_with(calico), "RB-IPAM-005"), "") << "Calico fills it in";
}

TEST(SlipsInManifests, TwoPoliciesAreRefusedWhereOneApplyTakesBoth) {
  const auto with_range = [](const std::string& name, const std::string& range) {
    std::string text = policy_with("");
    text.replace(text.find("name: rail0"), 11, "name: " + name);
    text.replace(text.find("ens1f0np0"), 9, "ens1f0np0#" + range);
    return text;
  };
  const std::string both = with_range("a", "0-3") + "---\n" + with_range("b", "3-5");
  EXPECT_EQ(weight_of("a.yaml", both, "RB-POLICY-015"), "error");
  EXPECT_EQ(weight_of("a.yaml", with_range("a", "0-3") + "---\n" + with_range("b", "4-5"), "RB-POLICY-015"), "");
  const auto source = [](const std::string& name, const std::string& text) {
    return std::make_shared<const doc::Source>(doc::Source{name, text});
  };
  const Report apart =
      check({source("a.yaml", with_range("a", "0-3")), source("b.yaml", with_range("b", "3-5"))}, {}, {});
  for (const doc::Diagnostic& one : apart.findings.all())
    EXPECT_NE(one.id == "RB-POLICY-015" ? severity_name(one.severity) : "", "error") << "two files may be alternatives";
}

TEST(SlipsInManifests, AnErrorOfYamlSaysWhatItHides) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const std::string broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: " + deep +
                             "\n  d: e\n\n---\n" + policy_with("  isRdma: 1\n");
  const Report report = testing_cases::report_of("a.yaml", broken);
  ASSERT_FALSE(report.findings.all().empty());
  const doc::Diagnostic& first = report.findings.all().front();
  EXPECT_EQ(first.layer, doc::Layer::kText);
  ASSERT_FALSE(first.notes.empty());
  EXPECT_EQ(first.notes.back().text, "lines 1 to 6 are not checked until this is right");
  EXPECT_NE(weight_of("a.yaml", broken, "RB-API-004"), "") << "the next document is read";
}

}  // namespace
}  // namespace railbed::check
