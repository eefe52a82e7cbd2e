// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <algorithm>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "api/compare.h"
#include "api/load.h"
#include "doc/edits.h"
#include "doc/yaml.h"
#include "findings/explain.h"

namespace railbed::schema {
namespace {

struct Checked {
  doc::Diagnostics findings;
  doc::SourcePtr source;

  // "line:column id message (fix)", one a line, by place.
  std::string reported() {
    findings.sort();
    std::string out;
    for (const doc::Diagnostic& d : findings.all())
      out += fmt::format("{}:{} {} {}{}\n", d.span.line, d.span.column, d.id, d.message,
                         d.fix.empty() ? "" : fmt::format(" ({})", d.fix));
    return out;
  }
  std::string repaired() const {
    std::vector<doc::Edit> edits;
    for (const doc::Diagnostic& d : findings.all()) edits.insert(edits.end(), d.edits.begin(), d.edits.end());
    return doc::EditedText(source, edits).after()->text;
  }
};

Checked checked_text(const std::string& text) {
  Checked checked{.source = std::make_shared<doc::Source>(doc::Source{"a.yaml", text})};
  for (const doc::Value& value : doc::parse_yaml(checked.source, checked.findings)) {
    const Schema* schema = find_schema(*value.find("apiVersion")->as_string(), *value.find("kind")->as_string());
    EXPECT_NE(schema, nullptr) << text;
    if (schema != nullptr)
      api::compare(value, *schema, api::StatusPart::kCompared, api::NetworksAnnotation::kRead, checked.findings);
  }
  return checked;
}

std::string policy(const std::string& spec) {
  return "apiVersion: sriovnetwork.openshift.io/v1\n"
         "kind: SriovNetworkNodePolicy\n"
         "metadata: {name: rails, namespace: sriov}\n"
         "spec:\n"
         "  resourceName: rails\n"
         "  nodeSelector: {rdma: \"true\"}\n"
         "  numVfs: 8\n" +
         spec;
}

std::string attachment(const std::string& config) {
  return "apiVersion: k8s.cni.cncf.io/v1\n"
         "kind: NetworkAttachmentDefinition\n"
         "metadata: {name: rail0}\n"
         "spec:\n"
         "  config: |\n" +
         config;
}

std::string pod(const std::string& container) {
  return "apiVersion: v1\n"
         "kind: Pod\n"
         "metadata: {name: p}\n"
         "spec:\n"
         "  containers:\n"
         "  - name: main\n" +
         container;
}

// Kinds are read when they are asked for; all callers get the same.
TEST(FindSchema, IsAskedByManyThreadsAtOnce) {
  const std::vector<std::string> kinds = schema_kinds();
  std::vector<std::vector<const Schema*>> found(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] {
      for (size_t k = 0; k < kinds.size(); ++k) found[i].push_back(find_schema("", kinds[(k + i) % kinds.size()]));
      std::ranges::rotate(found[i], found[i].begin() + static_cast<ptrdiff_t>((kinds.size() - i) % kinds.size()));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count(found[0], nullptr), 0);
  for (const auto& one : found) EXPECT_EQ(one, found[0]);
}

TEST(FindSchema, AsksForTheGroup) {
  EXPECT_NE(find_schema("sriovnetwork.openshift.io/v1", "SriovNetwork"), nullptr);
  EXPECT_NE(find_schema("sriovnetwork.openshift.io/v2", "SriovNetwork"), nullptr) << "another version";
  EXPECT_NE(find_schema("", "SriovNetwork"), nullptr) << "the name decides";
  EXPECT_EQ(find_schema("example.com/v1", "SriovNetwork"), nullptr);
  EXPECT_EQ(find_schema("v1", "Frobnicator"), nullptr);
  EXPECT_EQ(find_schema("batch.volcano.sh/v1alpha1", "Job"), nullptr);
  EXPECT_EQ(find_plugin_schema("sriov")->name, "CNI plugin \"sriov\"");
  EXPECT_EQ(find_plugin_schema("whereabouts")->name, "ipam type \"whereabouts\"");
  EXPECT_EQ(find_plugin_schema("nothing"), nullptr);
}

struct Mistake {
  const char* what;
  std::string text;
  const char* reported;
};

TEST(CheckSchema, SaysWhatIsWrongWithAField) {
  const Mistake cases[] = {
      {"one level too deep", policy("  nicSelector:\n    vendor: \"15b3\"\n    isRdma: true\n"),
       "10:5 RB-API-003 'isRdma' is a field of spec, not of spec.nicSelector; it has no effect here (indent it as far "
       "as the other fields of spec)\n"},
      {"one level too high", policy("  nicSelector: {vendor: \"15b3\"}\n  pfNames: [ib0]\n"),
       "9:3 RB-API-003 'pfNames' is a field of spec.nicSelector, not of spec; it has no effect here (indent "
       "it below 'nicSelector:')\n"},
      {"beside", pod("  nodeSelector: {a: b}\n    limits: {cpu: 1}\n"),
       "8:5 RB-YAML-002 'limits' begins at column 5, but its neighbour 'nodeSelector' (line 7) at column 3 (indent it "
       "by 2 blanks less, to column 3)\n"},
      {"two levels below", pod("    image: x\nhostPort: 80\n"),
       "8:1 RB-API-002 'hostPort' is not a field of Pod; it has no effect\n"},
      {"in a container", pod("    limits: {x/vf: 1}\n"),
       "7:5 RB-API-003 'limits' is a field of spec.containers[0].resources, not of spec.containers[0]; it has no "
       "effect here (indent it below 'resources:')\n"},
      {"of another kind", policy("  nicSelector: {vendor: \"15b3\"}\n  ipam: '{}'\n"),
       "9:3 RB-API-003 'ipam' is a field of SriovNetwork, not of SriovNetworkNodePolicy; it has no effect here\n"},
      {"a label without its map",
       "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkPoolConfig\nmetadata: {name: rail}\n"
       "spec:\n  nodeSelector: {feature.node.kubernetes.io/rdma.capable: \"true\"}\n",
       "5:18 RB-API-003 'feature.node.kubernetes.io/rdma.capable' is a key of spec.nodeSelector.matchLabels, not of "
       "spec.nodeSelector; it has no effect here (indent it below 'matchLabels:')\n"},
      {"misspelt", policy("  nicSelector: {vendor: \"15b3\"}\n  isRDMA: true\n"),
       "9:3 RB-API-002 'isRDMA' is not a field of spec; it has no effect (did you mean 'isRdma'?)\n"},
      {"unknown", policy("  nicSelector: {vendor: \"15b3\"}\n  frobnicate: true\n"),
       "9:3 RB-API-002 'frobnicate' is not a field of spec; it has no effect\n"},
      {"a number for a text", policy("  nicSelector: {deviceID: 1021}\n"),
       "8:27 RB-API-004 spec.nicSelector.deviceID must be a string, found an integer 1021 (put "
       "it in quotes: \"1021\")\n"},
      {"a text for a number", policy("  nicSelector: {vendor: \"15b3\"}\n  mtu: \"9000\"\n"),
       "9:8 RB-API-004 spec.mtu must be an integer, found a string \"9000\" (write it without quotes: mtu: 9000)\n"},
      {"a text for a flag", policy("  nicSelector: {vendor: \"15b3\"}\n  isRdma: 'true'\n"),
       "9:11 RB-API-004 spec.isRdma must be true or false, found a string 'true' (write it "
       "without quotes: isRdma: true)\n"},
      {"one for many", policy("  nicSelector:\n    pfNames: ib0\n"),
       "9:14 RB-API-004 spec.nicSelector.pfNames must be a list, found a string ib0 (pfNames: [ib0])\n"},
      {"a wrong word", policy("  nicSelector: {vendor: \"15b3\"}\n  deviceType: netdev\n"),
       "9:15 RB-API-005 spec.deviceType must be \"netdevice\" or \"vfio-pci\", found \"netdev\"\n"},
      {"out of bounds", policy("  nicSelector: {vendor: \"15b3\"}\n  priority: 100\n"),
       "9:13 RB-API-005 spec.priority must be 0 to 99, found 100\n"},
      {"no quantity", pod("    resources: {limits: {memory: 64 GB}}\n"),
       "7:34 RB-API-005 spec.containers[0].resources.limits[memory] must be a quantity such as 8, \"500m\" or "
       "\"64Gi\", found a string 64 GB\n"},
      {"no exponent", pod("    resources: {limits: {memory: 8x3}}\n"),
       "7:34 RB-API-005 spec.containers[0].resources.limits[memory] must be a quantity such as 8, \"500m\" or "
       "\"64Gi\", found a string 8x3\n"},
      {"an exponent without digits", pod("    resources: {limits: {memory: 8e+}}\n"),
       "7:34 RB-API-005 spec.containers[0].resources.limits[memory] must be a quantity such as 8, \"500m\" or "
       "\"64Gi\", found a string 8e+\n"},
      {"exponents", pod("    resources: {limits: {memory: 8e3, cpu: 1E-3}}\n"), ""},
      {"misspelt, and the only one", policy("  nicSelector: {pfName: [ib0]}\n"),
       "8:17 RB-API-006 spec.nicSelector needs \"vendor\", \"deviceID\", \"rootDevices\", \"pfNames\" or "
       "\"netFilter\"; 'pfName' is not a field here (did you mean 'pfNames'?)\n"},
      {"nothing selected", policy("  nicSelector: {}\n"),
       "8:16 RB-API-006 spec.nicSelector needs \"vendor\", \"deviceID\", \"rootDevices\", "
       "\"pfNames\" or \"netFilter\"\n"},
      {"missing", policy(""), "5:3 RB-API-006 spec.nicSelector is missing\n"},
      {"empty", policy("  nicSelector:\n"),
       "8:15 RB-API-006 spec.nicSelector is empty (indent what belongs to it below 'nicSelector:')\n"},
      {"misspelt and needed", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  container: []\n",
       "5:3 RB-API-006 spec.containers is missing; 'container' is not a field (did you mean 'containers'?)\n"},
  };
  for (const Mistake& c : cases) EXPECT_EQ(checked_text(c.text).reported(), c.reported) << c.what << "\n" << c.text;
}

TEST(CheckSchema, LooksIntoTextsWithTheirOwnGrammar) {
  const Mistake cases[] = {
      {"a field of a policy in a plugin", attachment("    {\"type\": \"host-device\",\n     \"isRdma\": true}\n"),
       "7:6 RB-CNI-003 'isRdma' is a field of SriovNetworkNodePolicy, not of CNI plugin "
       "\"host-device\"; it has no effect here\n"},
      {"a field of another plugin", attachment("    {\"type\": \"sriov\", \"pkey\": \"0x8001\"}\n"),
       "6:23 RB-CNI-003 'pkey' is a field of CNI plugin \"ib-sriov\", not of CNI plugin "
       "\"sriov\"; it has no effect here\n"},
      {"a field of another ipam type",
       attachment("    {\"type\": \"rdma\", \"ipam\": {\"type\": \"whereabouts\", \"subnet\": \"10.0.0.0/24\"}}\n"),
       "6:54 RB-IPAM-006 ipam needs \"range\", \"ipRanges\" or \"addresses\"; 'subnet' is not a field here\n"},
      {"a field with nearly the same name in another ipam type",
       attachment("    {\"type\": \"rdma\", \"ipam\": {\"type\": \"whereabouts\", \"range\": \"10.0.0.0/24\",\n"
                  "     \"rangeStart\": \"10.0.0.5\"}}\n"),
       "7:6 RB-IPAM-002 'rangeStart' is not a field of ipam; it has no effect (did you mean 'range_start'?)\n"},
      {"an unknown type", attachment("    {\"type\": \"tunning\"}\n"),
       "6:14 RB-CNI-001 CNI plugin \"tunning\" is unknown; its fields are not checked (did you mean \"tuning\"?)\n"},
      {"a list of plugins", attachment("    {\"plugins\": [{\"type\": \"tuning\", \"mtu\": \"9000\"}], \"mtu\": 1}\n"),
       "6:44 RB-CNI-004 config.plugins[0].mtu must be an integer, found a string \"9000\" (write it without "
       "quotes: \"mtu\": 9000)\n"
       "6:54 RB-CNI-003 'mtu' is a field of config.plugins[], not of config; it has no effect here (move it "
       "into 'plugins')\n"},
      {"networks of a template",
       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec:\n  template:\n    metadata:\n"
       "      annotations:\n        k8s.v1.cni.cncf.io/networks: '[{\"nam\": \"rail0\"}, {\"name\": "
       "\"Rail_1\"}]'\n"
       "    spec: {containers: []}\n  selector: {}\n",
       "8:41 RB-ANN-006 networks.name is missing; 'nam' is not a field (did you mean 'name'?)\n"
       "8:67 RB-API-007 networks.name: \"Rail_1\" is not a name: lower-case letters, digits and '-', at most "
       "63, "
       "with a letter or digit at both ends\n"},
      {"no text",
       "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: rail}\n"
       "spec: {resourceName: r, ipam: {type: dhcp}}\n",
       "4:31 RB-API-004 spec.ipam must be a text that holds JSON, found an object (write 'ipam: |' and the "
       "JSON below it, indented)\n"},
      {"plugins with commas between them",
       "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: rail}\n"
       "spec:\n  resourceName: r\n  metaPlugins: |\n    {\"type\": \"tuning\", \"mtU\": 1},\n    {\"tipe\": "
       "1}\n",
       "7:24 RB-CNI-002 'mtU' is not a field of spec.metaPlugins; it has no effect (did you mean 'mtu'?)\n"
       "8:6 RB-CNI-006 spec.metaPlugins.type is missing; 'tipe' is not a field (did you mean 'type'?)\n"},
      {"the device plugin's resources",
       "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\nmetadata: {name: nic-cluster-policy}\n"
       "spec:\n  sriovDevicePlugin:\n    image: i\n    config: |\n"
       "      {\"resourceList\": [{\"resourceName\": \"vf\", \"selector\": {\"vendors\": [\"15b3\"]}}]}\n",
       "8:48 RB-API-002 'selector' is not a field of config.resourceList[0]; it has no effect "
       "(did you mean 'selectors'?)\n"},
      {"a ConfigMap's resources",
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sriovdp-config}\n"
       "data:\n  nvidia.conf: x\n  config.json: '{\"resourceList\": [{\"resourcename\": \"vf\"}]}'\n",
       "6:36 RB-API-006 config.resourceList[0].resourceName is missing; 'resourcename' is not a field (did "
       "you mean 'resourceName'?)\n"},
      {"YAML in YAML",
       "apiVersion: nfd.openshift.io/v1\nkind: NodeFeatureDiscovery\nmetadata: {name: nfd}\n"
       "spec:\n  workerConfig:\n    configData: |\n      sources:\n        pci:\n"
       "          deviceClassWhitelist: \"0207\"\n          deviceLabelField: [vendor]\n",
       "9:33 RB-API-004 configData.sources.pci.deviceClassWhitelist must be a list, found a string \"0207\" "
       "(deviceClassWhitelist: [\"0207\"])\n"
       "10:11 RB-API-002 'deviceLabelField' is not a field of configData.sources.pci; it has no effect (did "
       "you "
       "mean 'deviceLabelFields'?)\n"},
      {"a pod spec that has no spec",
       "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: l}\n"
       "spec:\n  model: {uri: hf://m}\n  router:\n    template:\n      spec: {containers: []}\n",
       "7:5 RB-API-003 'template' is a field of spec, not of spec.router; it has no effect here (indent it as "
       "far as the other fields of spec)\n"},
  };
  for (const Mistake& c : cases) EXPECT_EQ(checked_text(c.text).reported(), c.reported) << c.what << "\n" << c.text;
}

TEST(CheckSchema, RepairsWhatIsSafe) {
  const std::string wrong = policy(
      "  nicSelector: {vendor: \"15b3\", deviceID: 1021, pfName: [ib0]}\n"
      "  isRDMA: \"true\"\n"
      "  \"linktype\": IB\n"
      "  mtu: '4092'\n");
  const std::string right = policy(
      "  nicSelector: {vendor: \"15b3\", deviceID: \"1021\", pfNames: [ib0]}\n"
      "  isRdma: \"true\"\n"
      "  \"linkType\": IB\n"
      "  mtu: 4092\n");
  EXPECT_EQ(checked_text(wrong).repaired(), right);
  // With two misspellings of one field, or one next to the field itself, a person must decide.
  const std::string both = policy("  nicSelector: {vendor: \"15b3\"}\n  isRDMA: true\n  isRdma: false\n");
  EXPECT_EQ(checked_text(both).repaired(), both);
}

TEST(CheckSchema, KeepsTheQuotesAroundAnEmbeddedText) {
  const std::string head =
      "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: rail}\n";
  EXPECT_EQ(checked_text(head + R"(spec: {config: "{\"type\":\"tuning\",\"mtU\":\"9000\",\"mac\":5}"})").repaired(),
            head + R"(spec: {config: "{\"type\":\"tuning\",\"mtu\":\"9000\",\"mac\":5}"})")
      << "a quote would end the text around it";
  EXPECT_EQ(checked_text(head + R"(spec: {config: '{"type":"tuning","mtU":"9000","mac":5}'})").repaired(),
            head + R"(spec: {config: '{"type":"tuning","mtu":"9000","mac":"5"}'})");
}

// Readers run over what was compared: whatever the schema reports of a field, no reader reports again.
TEST(CheckSchema, IsTheOnlyOneThatReportsAMistake) {
  const std::string texts[] = {
      policy("  nicSelector: {vendor: 15, isRdma: true, deviceid: \"1021\"}\n  mtu: big\n  vlan: 5\n  namespace: x\n"),
      policy("  nicSelector: []\n  isRdma: 1\n  linkType: infiniband\nnumVFs: 3\nname: x\n"),
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovIBNetwork\nmetadata: {names: n, labels: [a]}\n"
      "spec: {resourceName: 5, spoofChk: on, pkey: x, linkState: up, ipam: 7, metaPlugins: '{\"tipe\": "
      "1}'}\n",
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {name: rail}\n"
      "spec: {spoofChk: on, isRdma: true, vlan: 5000, ipam: '{\"type\": \"host-local\", \"mtu\": 5, "
      "\"routes\": 1}'}\n",
      attachment("    {\"cniVersion\": 1, \"name\": 5, \"type\": \"sriov\", \"vlan\": \"5\", \"spoofchk\": true,\n"
                 "     \"numVfs\": 4, \"ipam\": {\"type\": \"static\", \"addresses\": [{\"adress\": "
                 "\"10.0.0.1/24\"}]}}\n"),
      attachment("    {\"plugins\": [{\"type\": \"macvlan\", \"mode\": \"l2\"}, {\"tpye\": \"x\"}], \"ipam\": {}}\n"),
      policy("  nicSelector: {pfName: [ib0]}\n  mtu: 0\n  isRdma: x\n"),
      attachment("    {\"type\": \"sriov\", \"vlan\": 5000, \"trust\": true,\n"
                 "     \"ipam\": {\"type\": \"whereabouts\", \"subnet\": \"10.0.0.0/24\"}}\n"),
      attachment("    {\"type\": \"sriov\", \"vlan\": 5000, \"trust\": true,\n"
                 "     \"ipam\": {\"type\": \"host-local\", \"Ranges\": [[]]}}\n"),
      pod("    image: 5\n    resource: {}\n    limits: {a: 1}\n    resources: {limits: {x/vf: two}, request: {}}\n"),
  };
  for (const std::string& text : texts) {
    Checked checked = checked_text(text);
    doc::Diagnostics loaded;
    const std::vector<doc::Value> values = doc::parse_yaml(checked.source, loaded);
    std::vector<const doc::Value*> documents;
    for (const doc::Value& value : values) documents.push_back(&value);
    const api::Objects objects = api::load_documents(documents, loaded);
    EXPECT_EQ(objects, api::Objects()) << text;
    EXPECT_GE(loaded.all().size(), 3U) << text;
    std::set<std::string> reported;
    for (const doc::Diagnostic& d : loaded.all())
      EXPECT_TRUE(reported.insert(fmt::format("{} {} {}", d.span.offset, d.id, d.message)).second) << d.message << text;
    std::set<std::string> of_schema;
    for (const doc::Diagnostic& d : checked.findings.all()) {
      of_schema.insert(d.message);
      EXPECT_TRUE(reported.contains(fmt::format("{} {} {}", d.span.offset, d.id, d.message))) << d.message << text;
    }
    // What a reader adds is of values and names, not of types and fields.
    for (const doc::Diagnostic& d : loaded.all())
      EXPECT_TRUE(of_schema.contains(d.message) || d.says == doc::Says::kOther || d.says == doc::Says::kPlaceholder)
          << d.id << " " << d.message << "\n"
          << text;
  }
}

// What is wrong in a status is reported, and keeps no object from being read.
TEST(CheckSchema, TheStatusIsOfNoAuthor) {
  const std::string text = policy("  nicSelector: {vendor: \"15b3\"}\nstatus: {applied: many}\n");
  doc::Diagnostics found;
  const auto source = std::make_shared<doc::Source>(doc::Source{"a.yaml", text});
  const doc::Value value = doc::parse_yaml(source, found).front();
  const Schema& schema = *find_schema("", "SriovNetworkNodePolicy");
  EXPECT_TRUE(check_schema(value, schema, "", found));
  ASSERT_EQ(found.all().size(), 1U);
  EXPECT_EQ(found.all()[0].message, "status.applied must be an integer, found a string many");
  doc::Diagnostics without;
  EXPECT_TRUE(check_schema(value, schema, "", without, {.status = false}));
  EXPECT_TRUE(without.all().empty());
  // A text with a status of its own is the author's.
  const std::string inside = attachment("    {\"type\": \"sriov\", \"vlan\": \"x\", \"status\": 1}\n");
  EXPECT_EQ(checked_text(inside).reported(),
            "6:31 RB-CNI-004 config.vlan must be an integer, found a string \"x\"\n"
            "6:36 RB-CNI-002 'status' is not a field of config; it has no effect\n");
}

TEST(CheckSchema, AThousandMistakesOfAnObjectAreReportedAndNoMore) {
  std::string spec = "  nicSelector: {vendor: \"15b3\"}\n";
  for (int i = 0; i < 20'000; ++i) spec += fmt::format("  mtu{}: 1\n", i);
  const Checked checked = checked_text(policy(spec));
  EXPECT_EQ(checked.findings.all().size(), 1'001U);
  EXPECT_EQ(checked.findings.all().back().id, "RB-API-013");
  EXPECT_EQ(checked.findings.all().back().message, "first 1000 errors of this object shown; there may be more");
  for (const doc::Diagnostic& d : checked.findings.all()) ASSERT_TRUE(d.edits.empty());
}

// The API server's defaulting takes "" for a field that is not there; of a pointer, and of an enum of a custom
// resource, it does not.
TEST(CheckSchema, AnEmptyTextIsADefaultWhereTheServerTakesItForOne) {
  const auto workload = [](const std::string& kind, const std::string& spec) {
    const std::string version = kind == "CronJob" ? "batch/v1" : "apps/v1";
    const std::string needs = kind == "CronJob"
                                  ? "schedule: x, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, "
                                    "containers: [{name: c}]}}}}"
                                  : "selector: {}, template: {spec: {containers: [{name: c}]}}";
    return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: a}\nspec: {" + needs + ", " + spec +
           "}\n";
  };
  const auto of_pod = [](const std::string& spec) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], " + spec + "}\n";
  };
  const std::string defaults[] = {
      workload("StatefulSet", "podManagementPolicy: \"\""),
      workload("StatefulSet", "updateStrategy: {type: \"\"}"),
      workload("StatefulSet", "persistentVolumeClaimRetentionPolicy: {whenDeleted: \"\", whenScaled: \"\"}"),
      workload("Deployment", "strategy: {type: \"\"}"),
      workload("DaemonSet", "updateStrategy: {type: \"\"}"),
      workload("CronJob", "concurrencyPolicy: \"\""),
      of_pod("restartPolicy: \"\""),
      of_pod("dnsPolicy: \"\""),
      of_pod("tolerations: [{operator: \"\", effect: \"\"}]"),
      pod("    imagePullPolicy: \"\"\n"),
      pod("    terminationMessagePolicy: \"\"\n"),
      pod("    ports: [{containerPort: 1, protocol: \"\"}]\n"),
  };
  for (const std::string& text : defaults) EXPECT_EQ(checked_text(text).reported(), "") << text;
  const std::string mistakes[] = {
      workload("StatefulSet", "podManagementPolicy: parallel"),
      workload("Deployment", "strategy: {type: Rolling}"),
      of_pod("restartPolicy: never"),
      of_pod("preemptionPolicy: \"\""),
      pod("    restartPolicy: \"\"\n"),
      pod("    imagePullPolicy: always\n"),
      policy("  nicSelector: {vendor: \"15b3\"}\n  deviceType: \"\"\n"),
  };
  for (const std::string& text : mistakes) {
    Checked checked = checked_text(text);
    ASSERT_EQ(checked.findings.all().size(), 1U) << text << checked.reported();
    EXPECT_EQ(checked.findings.all().front().id, "RB-API-005") << text;
  }
}

std::string object_of(const std::string& version, const std::string& kind, const std::string& spec) {
  return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: a}\nspec: {" + spec + "}\n";
}
std::string template_of(const std::string& kind, const std::string& spec) {
  const std::string of_pod = "{spec: {" + spec + ", containers: [{name: c}]}}";
  if (kind == "CronJob")
    return object_of("batch/v1", kind, "schedule: x, jobTemplate: {spec: {template: " + of_pod + "}}");
  if (kind == "Job") return object_of("batch/v1", kind, "template: " + of_pod);
  return object_of("apps/v1", kind, "template: " + of_pod + ", selector: {}");
}
std::string with_ports(const std::string& port) {
  return object_of("v1", "Service", "ports: [{" + port + "}]");
}
std::string with_volume(const std::string& volume) {
  return object_of("v1", "Pod", "containers: [{name: c}], volumes: [{name: v, " + volume + "}]");
}
std::string with_labels(const std::string& labels) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {" + labels + "}}\n";
}

TEST(CheckSchema, TakesWhatAnApiServerTakes) {
  const std::string long_label(63, 'a');
  const std::string texts[] = {
      pod("    ports: [{containerPort: 1}, {containerPort: 65535, hostPort: 0}, {containerPort: 80, hostPort: 80}]\n"),
      pod("    livenessProbe: {httpGet: {port: http}}\n    readinessProbe: {tcpSocket: {port: 65535}}\n"),
      pod("    startupProbe: {grpc: {port: 1}}\n"),
      with_ports("port: 80, targetPort: http, nodePort: 30080"),
      with_ports("port: 65535, targetPort: 0, nodePort: 0, protocol: \"\""),
      object_of("v1", "Service", "clusterIP: None, selector: {app: \"\"}"),
      with_volume("emptyDir: {}"),
      with_volume("emptyDir: {medium: \"\"}"),
      with_volume("emptyDir: {medium: Memory, sizeLimit: 64Gi}"),
      with_volume("emptyDir: {medium: HugePages}"),
      with_volume("emptyDir: {medium: HugePages-2Mi}"),
      with_volume("hostPath: {path: /dev, type: \"\"}"),
      with_volume("hostPath: {path: /dev, type: CharDevice}"),
      with_volume("hostPath: {path: /dev}"),
      template_of("Job", "restartPolicy: Never"),
      template_of("CronJob", "restartPolicy: OnFailure"),
      template_of("Deployment", "restartPolicy: Always"),
      template_of("DaemonSet", "restartPolicy: \"\""),
      template_of("StatefulSet", "hostNetwork: false"),
      object_of(
          "v1", "PersistentVolumeClaim",
          "accessModes: [ReadWriteMany, ReadWriteOncePod], volumeMode: Block, resources: {requests: {storage: 1Gi}}"),
      object_of("v1", "Service", "type: \"\", sessionAffinity: ClientIP, ipFamilies: [IPv6]"),
      object_of("batch/v1", "Job",
                "backoffLimit: 0, completions: 0, template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"),
      with_labels("app: \"\", example.com/version: v1.2_3, long: " + long_label),
      with_labels("app: \"<name>\", \"{{ key }}\": x, tag: \"${TAG}\""),
      object_of("v1", "Pod", "containers: [{name: c}], nodeSelector: {node-role.kubernetes.io/worker: \"\"}"),
  };
  for (const std::string& text : texts) EXPECT_EQ(checked_text(text).reported(), "") << text;
}

TEST(CheckSchema, ReportsPortsAndVolumesThatAnApiServerRefuses) {
  const Mistake cases[] = {
      {"a port above all", pod("    ports: [{containerPort: 70000}]\n"),
       "7:29 RB-API-005 spec.containers[0].ports[0].containerPort must be 1 to 65535, found 70000\n"},
      {"no port", pod("    ports: [{containerPort: 0}]\n"),
       "7:29 RB-API-005 spec.containers[0].ports[0].containerPort must be 1 to 65535, found 0\n"},
      {"of the host", pod("    ports: [{containerPort: 1, hostPort: -1}]\n"),
       "7:42 RB-API-005 spec.containers[0].ports[0].hostPort must be 0 to 65535, found -1\n"},
      {"of a probe", pod("    livenessProbe: {httpGet: {port: 65536}}\n"),
       "7:37 RB-API-005 spec.containers[0].livenessProbe.httpGet.port must be 1 to 65535, found 65536\n"},
      {"of gRPC", pod("    livenessProbe: {grpc: {port: 0}}\n"),
       "7:34 RB-API-005 spec.containers[0].livenessProbe.grpc.port must be 1 to 65535, found 0\n"},
      {"of a service", with_ports("port: 80443"),
       "4:23 RB-API-005 spec.ports[0].port must be 1 to 65535, found 80443\n"},
      {"of its pods", with_ports("port: 1, targetPort: 80443"),
       "4:38 RB-API-005 spec.ports[0].targetPort must be 0 to 65535, found 80443\n"},
      {"of its nodes", with_ports("port: 1, nodePort: 300800"),
       "4:36 RB-API-005 spec.ports[0].nodePort must be 0 to 65535, found 300800\n"},
      {"a medium", with_volume("emptyDir: {medium: memory}"),
       "4:72 RB-API-005 spec.volumes[0].emptyDir.medium must be \"Memory\", \"HugePages\" or \"HugePages-*\", found "
       "\"memory\" (medium: Memory)\n"},
      {"a medium that is none", with_volume("emptyDir: {medium: Disk}"),
       "4:72 RB-API-005 spec.volumes[0].emptyDir.medium must be \"Memory\", \"HugePages\" or \"HugePages-*\", found "
       "\"Disk\"\n"},
      {"a path of the host", with_volume("hostPath: {path: /d, type: Dir}"),
       "4:80 RB-API-005 spec.volumes[0].hostPath.type must be \"Directory\", \"DirectoryOrCreate\", \"File\", "
       "\"FileOrCreate\", \"Socket\", \"CharDevice\" or \"BlockDevice\", found \"Dir\"\n"},
  };
  for (const Mistake& c : cases) EXPECT_EQ(checked_text(c.text).reported(), c.reported) << c.what << "\n" << c.text;
}

// A field that must be there is RB-API-006.
TEST(CheckSchema, ReportsWordsAndLabelsThatAnApiServerRefuses) {
  const Mistake cases[] = {
      {"a job forever", template_of("Job", "restartPolicy: Always"),
       "4:41 RB-API-005 spec.template.spec.restartPolicy must be \"OnFailure\" or \"Never\", found \"Always\"\n"},
      {"a job by default", template_of("Job", "hostNetwork: false"),
       "4:25 RB-API-006 spec.template.spec.restartPolicy is missing\n"},
      {"a server that ends", template_of("Deployment", "restartPolicy: Never"),
       "4:41 RB-API-005 spec.template.spec.restartPolicy must be \"Always\", found \"Never\"\n"},
      {"another that ends", template_of("DaemonSet", "restartPolicy: OnFailure"),
       "4:41 RB-API-005 spec.template.spec.restartPolicy must be \"Always\", found \"OnFailure\"\n"},
      {"a mode of a volume",
       object_of("v1", "PersistentVolumeClaim", "accessModes: [RWX], resources: {requests: {storage: 1Gi}}"),
       "4:22 RB-API-005 spec.accessModes[0] must be \"ReadWriteOnce\", \"ReadOnlyMany\", \"ReadWriteMany\" or "
       "\"ReadWriteOncePod\", found \"RWX\"\n"},
      {"no mode of a claim", object_of("v1", "PersistentVolumeClaim", "resources: {requests: {storage: 1Gi}}"),
       "4:7 RB-API-006 spec.accessModes is missing\n"},
      {"no size of a claim",
       object_of("v1", "PersistentVolumeClaim", "accessModes: [ReadWriteOnce], resources: {requests: {}}"),
       "4:60 RB-API-006 spec.resources.requests.storage is missing\n"},
      {"no type of a service", object_of("v1", "Service", "type: Clusterip"),
       "4:14 RB-API-005 spec.type must be \"ClusterIP\", \"NodePort\", \"LoadBalancer\" or \"ExternalName\", found "
       "\"Clusterip\" (type: ClusterIP)\n"},
      {"no number of attempts",
       object_of("batch/v1", "Job",
                 "backoffLimit: -1, template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"),
       "4:22 RB-API-005 spec.backoffLimit must be at least 0, found -1\n"},
      {"inside itself", pod("    securityContext: {securityContext: {privileged: true}}\n"),
       "7:23 RB-API-003 'securityContext' is inside itself: spec.containers[0].securityContext contains the fields "
       "directly (remove the inner 'securityContext:' and indent its content one level less)\n"},
      {"no value of a label", with_labels("app: my server"),
       "3:35 RB-API-005 metadata.labels[app]: \"my server\" is not a valid label value: letters, digits, '-', '_' and '.', "
       "at most 63, with a letter or digit at both ends\n"},
      {"no key of a label", with_labels("my app: server"),
       "3:30 RB-API-005 metadata.labels: \"my app\" is not a valid label key: letters, digits, '-', '_' and '.', at most 63, "
       "with a letter or digit at both ends, after a prefix such as \"example.com/\" or without one\n"},
      {"no label of a node",
       object_of("v1", "Pod", "containers: [{name: c}], nodeSelector: {example.com/gpu: \"H100 \"}"),
       "4:65 RB-API-005 spec.nodeSelector[example.com/gpu]: \"H100 \" is not a valid label value: letters, digits, '-', '_' "
       "and '.', at most 63, with a letter or digit at both ends\n"},
  };
  for (const Mistake& c : cases) EXPECT_EQ(checked_text(c.text).reported(), c.reported) << c.what << "\n" << c.text;
}

// The cluster's version of a definition is not known.
TEST(CheckSchema, AFieldThatSomeVersionsNeedIsAWarning) {
  const std::string policy_of_gpus =
      "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpus}\nspec:\n"
      "  {dcgmExporter: {}, devicePlugin: {}, driver: {}, operator: {}, toolkit: {}";
  Checked checked = checked_text(policy_of_gpus + "}\n");
  EXPECT_EQ(checked.reported(),
            "5:3 RB-API-006 spec.gfd is missing: some versions of the definition refuse the object without it\n");
  EXPECT_FALSE(checked.findings.has_errors());
  EXPECT_EQ(checked_text(policy_of_gpus + ", gfd: {}}\n").reported(), "");
  EXPECT_EQ(checked_text(policy_of_gpus + ", gfdd: {}}\n").reported(),
            "5:79 RB-API-006 spec.gfd is missing; 'gfdd' is not a field (did you mean 'gfd'?)\n");
  EXPECT_TRUE(checked_text("apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpus}\nspec: {gfd: {}}\n")
                  .findings.has_errors())
      << "what all versions need";
}

TEST(Explain, EveryIdOfTheseFamiliesHasAStory) {
  for (const char* id : {"RB-API-001", "RB-API-012", "RB-CNI-001", "RB-CNI-008", "RB-IPAM-001", "RB-IPAM-009",
                         "RB-ANN-005", "RB-YAML-013", "RB-JSON-006"}) {
    ASSERT_NE(findings::explain(id), nullptr) << id;
    EXPECT_GT(findings::explain(id)->story.size(), 80U) << id;
  }
}

// A field that has its place further down: the way begins at the object's root.
TEST(CheckSchema, ReportsTheWayToAFieldFromTheObjectsRoot) {
  EXPECT_EQ(
      checked_text("apiVersion: sriovnetwork.openshift.io/v1\n"
                   "kind: SriovNetworkNodePolicy\n"
                   "metadata: {name: rails, namespace: sriov, isRdma: true}\n"
                   "spec:\n"
                   "  resourceName: rails\n"
                   "  nodeSelector: {rdma: \"true\"}\n"
                   "  numVfs: 8\n"
                   "  nicSelector: {vendor: \"15b3\"}\n")
          .reported(),
      "3:43 RB-API-003 'isRdma' is a field of spec, not of metadata; it has no effect here (indent it below 'spec:')\n");
}

}  // namespace
}  // namespace railbed::schema
