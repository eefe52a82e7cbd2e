// SPDX-License-Identifier: Apache-2.0
#include "check/read/rebuild.h"

#include <gtest/gtest.h>

#include "check/case_files.h"
#include "check/read/bundle.h"
#include "doc/edits.h"
#include "doc/json.h"
#include "doc/yaml.h"
#include "schema/schema.h"

namespace railbed::check {
namespace {

struct ReadPage {
  Bundle bundle;
  std::string findings;
};

ReadPage read_page(const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<const doc::Source>(doc::Source{"page.txt", text});
  ReadPage out{read_bundle({source}, diagnostics), {}};
  out.findings = doc::render(diagnostics);
  return out;
}

std::string json(const ReadPage& r, size_t which = 0) {
  return which < r.bundle.documents.size() ? doc::to_json(r.bundle.documents[which].value) : "none";
}

TEST(Rebuild, GivesLinesWithoutIndentationTheirPlaces) {
  const ReadPage r = read_page(R"(Make the policy and the pod:
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata:
name: rails
namespace: net
spec:
nodeSelector:
feature.node.kubernetes.io/network-sriov.capable: "true"
resourceName: rails # the name
nicSelector:
vendor: "15b3"
pfNames: ["ens1f0", "ens2f0"]
numVfs: 8
isRdma: true
This makes eight functions on each of the two ports.

apiVersion: v1
kind: Pod
metadata:
name: worker
labels:
app: worker
annotations:
k8s.v1.cni.cncf.io/networks: rails
spec:
containers:
- name: main
image: registry.example.org/x:1
command:
- sleep
- inf
resources:
limits:
net.example.org/rails: "1"
env:
- name: A
value: "1"
- name: B
value: two
volumes:
- name: shm
emptyDir:
medium: Memory
Then go on.
)");
  EXPECT_EQ(
      json(r),
      R"({"apiVersion":"sriovnetwork.openshift.io/v1","kind":"SriovNetworkNodePolicy","metadata":{"name":"rails","namespace":"net"},"spec":{"nodeSelector":{"feature.node.kubernetes.io/network-sriov.capable":"true"},"resourceName":"rails","nicSelector":{"vendor":"15b3","pfNames":["ens1f0","ens2f0"]},"numVfs":8,"isRdma":true}})");
  EXPECT_EQ(
      json(r, 1),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"worker","labels":{"app":"worker"},"annotations":{"k8s.v1.cni.cncf.io/networks":"rails"}},"spec":{"containers":[{"name":"main","image":"registry.example.org/x:1","command":["sleep","inf"],"resources":{"limits":{"net.example.org/rails":"1"}},"env":[{"name":"A","value":"1"},{"name":"B","value":"two"}]}],"volumes":[{"name":"shm","emptyDir":{"medium":"Memory"}}]}})");
  EXPECT_EQ(r.findings,
            "page.txt:2:1: error: this manifest lost its indentation and is not valid YAML [RB-DOC-001]\n"
            "     2 | apiVersion: sriovnetwork.openshift.io/v1\n"
            "       | ^~~~~~~~~~\n"
            "  fix: copy it again from its source; the findings here take the nesting from the schema of its kind\n"
            "page.txt:18:1: error: this manifest lost its indentation and is not valid YAML [RB-DOC-001]\n"
            "    18 | apiVersion: v1\n"
            "       | ^~~~~~~~~~\n"
            "  fix: copy it again from its source; the findings here take the nesting from the schema of its kind\n");
  const doc::Value* vfs = r.bundle.documents[0].value.find("spec")->find("numVfs");
  EXPECT_EQ(vfs->span.to_string(), "page.txt:14:9");
  EXPECT_TRUE(r.bundle.documents[0].rebuilt);
  EXPECT_EQ(r.bundle.prose[1].text, "This makes eight functions on each of the two ports.");
}

TEST(Rebuild, AnInvisibleCharacterBeforeAnObjectChangesNothing) {
  const std::string object =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: worker\nspec:\n  containers:\n  - name: main\n    image: a/x:1\n";
  for (const char* invisible : {"\xEE\xB0\x83", "\xEE\x80\x80", "\xEF\xA3\xBF", "\xE2\x80\x8B", "\xE2\x80\x8D",
                                "\xEF\xBB\xBF", "\xE2\x80\xA8", "\xE2\x80\x8B\xEE\xB0\x83"}) {
    const ReadPage r = read_page("Make it:\n" + std::string(invisible) + object + "Then go on.\n");
    EXPECT_EQ(r.findings, "");
    ASSERT_EQ(r.bundle.documents.size(), 1U);
    EXPECT_FALSE(r.bundle.documents[0].rebuilt);
    EXPECT_EQ(
        json(r),
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"worker"},"spec":{"containers":[{"name":"main","image":"a/x:1"}]}})");
  }
  // A sign that is seen, and an object whose indentation is gone behind one that is not.
  for (const std::string& text :
       {"\xE2\x80\xA2" + object, std::string("\xEE\xB0\x83") + "apiVersion: v1\nkind: Pod\nmetadata:\nname: a\n"
                                                               "spec:\nhostNetwork: true\n"}) {
    const ReadPage r = read_page("Make it:\n" + text);
    ASSERT_EQ(r.bundle.documents.size(), 1U) << text;
    EXPECT_TRUE(r.bundle.documents[0].rebuilt) << text;
  }
}

TEST(Rebuild, TakesOneLineApartAndStopsWhereTheTextGoesOn) {
  const ReadPage r = read_page(
      "Create it: apiVersion: sriovnetwork.openshift.io/v1 kind: SriovNetworkNodePolicy metadata: name: fast "
      "spec: # "
      "--- what it makes --- resourceName: fast nodeSelector: fabric: a priority: 10 numVfs: 8 nicSelector: "
      "vendor: "
      "\"15b3\" deviceID: \"1021\" deviceType: netdevice isRdma: truewhere:\n"
      "apiVersion: sriovnetwork.openshift.io/v1 kind: SriovNetwork metadata: name: fast spec: resourceName: "
      "fast ipam: "
      "| { \"type\": \"host-local\", \"ranges\": [ [ {\"subnet\": \"10.0.0.0/24\"} ] ] }Then make the pods.\n"
      "apiVersion: nfd.openshift.io/v1 kind: NodeFeatureDiscovery metadata: name: n spec: workerConfig: "
      "configData: | "
      "sources: pci: deviceClassWhitelist: - \"03\" - \"0200\" deviceLabelFields: - \"vendor\"Install the "
      "driver:\n");
  ASSERT_EQ(r.bundle.documents.size(), 3u);
  EXPECT_EQ(
      json(r),
      R"({"apiVersion":"sriovnetwork.openshift.io/v1","kind":"SriovNetworkNodePolicy","metadata":{"name":"fast"},"spec":{"resourceName":"fast","nodeSelector":{"fabric":"a"},"priority":10,"numVfs":8,"nicSelector":{"vendor":"15b3","deviceID":"1021"},"deviceType":"netdevice","isRdma":true}})");
  const doc::Value* ipam = r.bundle.documents[1].value.find("spec")->find("ipam");
  doc::Diagnostics none;
  const auto inner = doc::parse_embedded_json(*ipam, none);
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(inner->find("type")->span.to_string(), "page.txt:2:125");
  EXPECT_EQ(*r.bundle.documents[2].value.find("spec")->find("workerConfig")->find("configData")->as_string(),
            "sources:\n  pci:\n    deviceClassWhitelist:\n    - \"03\"\n    - \"0200\"\n    "
            "deviceLabelFields:\n    - vendor\n");
  std::vector<std::string> prose;
  for (const Prose& line : r.bundle.prose) prose.emplace_back(line.text);
  EXPECT_EQ(prose, (std::vector<std::string>{"Create it: ", "where:", "Then make the pods.", "Install the driver:"}));
}

TEST(Rebuild, KeepsMisspeltFieldsWhereTheyStand) {
  const ReadPage r =
      read_page("apiVersion: v1\nkind: Pod\nmetadata:\nname: a\nspec:\ncontainer:\n- name: main\nimage: x\n");
  EXPECT_EQ(
      json(r),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"container":[{"name":"main","image":"x"}]}})");
}

TEST(Rebuild, CountsKindsThatHaveNoSchema) {
  const ReadPage r = read_page("apiVersion: example.org/v1\nkind: Teapot\nmetadata:\nname: a\n\nMore text.\n");
  EXPECT_EQ(r.bundle.unknown_kinds, (std::map<std::string, int>{{"Teapot", 1}}));
  EXPECT_EQ(r.findings, "");
}

// What comes of the lines below a pod's metadata, and of the text behind them.
TEST(Rebuild, EndsValuesWhereTheyEnd) {
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata:\nname: a\n";
  const std::string flat_pod = "apiVersion: v1 kind: Pod metadata: name: a ";
  const std::string policy = "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nspec:\n";
  const std::string flat_policy = "apiVersion: sriovnetwork.openshift.io/v1 kind: SriovNetworkNodePolicy spec: ";
  struct Case {
    std::string text, part, json;
  };
  const Case cases[] = {
      {pod + "labels:\nb: 'it''s' # why\n", "metadata", R"({"name":"a","labels":{"b":"it's"}})"},
      {pod + "labels:\nb: \"q\\\"q\"\n", "metadata", R"({"name":"a","labels":{"b":"q\"q"}})"},
      {pod + "labels:\nb: \"open\nc: d\n", "metadata", R"({"name":"a","labels":{"b":"\"open","c":"d"}})"},
      {pod + "labels:\nb: one two #three\nc: x#y\n", "metadata", R"({"name":"a","labels":{"b":"one two","c":"x#y"}})"},
      {pod + "labels:\nb: 1.10\nc: 7\n", "metadata", R"({"name":"a","labels":{"b":"1.10","c":7}})"},
      {pod + "labels: {b: c, d: \"}\"}\n", "metadata", R"({"name":"a","labels":{"b":"c","d":"}"}})"},
      {pod + "labels: {b: c\n", "metadata", R"({"name":"a","labels":"{b: c"})"},
      {pod + "name: b\n", "metadata", R"({"name":"b"})"},
      {pod + "\"labels\":\n'b': c\n", "metadata", R"({"name":"a","labels":{"b":"c"}})"},
      {pod + "spec:\ncontainers:\n- name: m\nargs: [\"x\", z]\n- name: k\n", "spec",
       R"({"containers":[{"name":"m","args":["x","z"]},{"name":"k"}]})"},
      {pod + "spec:\ncontainers:\n- name: m\ncommand:\n- a\n- b c\nargs:\n- d\n- name: k\n", "spec",
       R"({"containers":[{"name":"m","command":["a","b c"],"args":["d"]},{"name":"k"}]})"},
      {pod + "spec:\ncontainers:\n- name: m\nimage:\n- name: k\n", "spec",
       R"({"containers":[{"name":"m","image":null},{"name":"k"}]})"},
      {pod + "spec:\n# a comment\ncontainers: # another\n- name: m\n", "spec", R"({"containers":[{"name":"m"}]})"},
      {pod + "spec:\nnodeName: k\nThat is all: you see it.\nhostNetwork: true\n", "spec", R"({"nodeName":"k"})"},
      {pod + "spec:\nnodeName: k\nfrobnicate: \"x\"\nhostNetwork: true\n", "spec",
       R"({"nodeName":"k","frobnicate":"x","hostNetwork":true})"},
      {pod + "spec:\nnodeName: k\nfrobnicate: it does much more here\n", "spec", R"({"nodeName":"k"})"},
      {flat_pod + "spec: nodeName: k hostNetwork: trueThen", "spec", R"({"nodeName":"k","hostNetwork":true})"},
      {flat_pod + "spec: nodeName: k hostNetwork: falsely containers: []", "spec",
       R"({"nodeName":"k","hostNetwork":false})"},
      {flat_pod + "spec: containers: - name: m command: [\"a\"]Then", "spec",
       R"({"containers":[{"name":"m","command":["a"]}]})"},
      {flat_pod + "spec: # the rest nodeName: k", "spec", R"({"nodeName":"k"})"},
      {flat_pod + "spec: # the rest is a sentence", "spec", "null"},
      {flat_policy + "numVfs: 8Then priority: 9", "spec", R"({"numVfs":8})"},
      {flat_policy + "numVfs: 8 priority: 9", "spec", R"({"numVfs":8,"priority":9})"},
      {flat_policy + "numVfs: eight priority: 9", "spec", R"({"numVfs":"eight","priority":9})"},
      {flat_policy + "deviceType: netdeviceThen mtu: 1", "spec", R"({"deviceType":"netdevice"})"},
      {flat_policy + "deviceType: netdevice mtu: 1500", "spec", R"({"deviceType":"netdevice","mtu":1500})"},
      {flat_policy + "deviceType: netdevice2 mtu: 1500", "spec", R"({"deviceType":"netdevice2","mtu":1500})"},
      {policy + "numVfs: 8\nnicSelector:\npfNames:\n- a\n- b\nmtu: 1500\n", "spec",
       R"({"numVfs":8,"nicSelector":{"pfNames":["a","b"]},"mtu":1500})"},
  };
  for (const Case& c : cases) {
    const ReadPage r = read_page(c.text);
    ASSERT_FALSE(r.bundle.documents.empty()) << c.text;
    const doc::Value* part = r.bundle.documents[0].value.find(c.part);
    EXPECT_EQ(part == nullptr ? "none" : doc::to_json(*part), c.json) << c.text;
  }
}

// Removing the indentation of any manifest and rebuilding it gives the same object.
TEST(Rebuild, GivesBackWhatTheIndentationSaid) {
  constexpr std::string_view kManifest = R"(apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata:
  name: nic-cluster-policy
spec:
  ofedDriver:
    image: doca-driver
    repository: nvcr.io/nvidia/mellanox
    version: 25.01-0.6.0.0-0
    upgradePolicy:
      autoUpgrade: true
      maxParallelUpgrades: 1
      drain:
        enable: true
        force: false
        timeoutSeconds: 300
    env:
      - name: CREATE_IFNAMES_UDEV
        value: "true"
  sriovDevicePlugin:
    image: sriov-network-device-plugin
    repository: ghcr.io/k8snetworkplumbingwg
    version: v3.9.0
    config: |
      {"resourceList": [{"resourceName": "rails", "selectors": {"vendors": ["15b3"]}}]}
  nvIpam:
    image: nvidia-k8s-ipam
    repository: ghcr.io/mellanox
    version: v0.3.6
    enableWebhook: false
)";
  std::string flat;
  for (size_t at = 0; at < kManifest.size();) {
    const size_t end = kManifest.find('\n', at);
    const std::string_view line = kManifest.substr(at, end - at);
    flat += std::string(line.substr(line.find_first_not_of(' '))) + "\n";
    at = end + 1;
  }
  const auto source = std::make_shared<const doc::Source>(doc::Source{"a.yaml", std::string(kManifest)});
  doc::Diagnostics none;
  doc::Value whole = doc::parse_yaml(source, none).at(0);
  std::string config = *whole.find("spec")->find("sriovDevicePlugin")->find("config")->as_string();
  config.pop_back();  // the line end of the block
  whole.find("spec")->find("sriovDevicePlugin")->set("config", doc::Value(config));
  EXPECT_EQ(json(read_page(flat)), doc::to_json(whole));
  std::string joined = flat;
  std::ranges::replace(joined, '\n', ' ');
  EXPECT_EQ(json(read_page(joined)), doc::to_json(whole));
}

// The manifests of a bundle whose kinds have schemas, without comments.
std::vector<std::string> manifests_of(const std::string& text) {
  std::vector<std::string> out(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (line == "---")
      out.emplace_back();
    else if (first != std::string::npos && line[first] != '#')
      out.back() += line + "\n";
  }
  return out;
}

// Blanks and line ends in texts are lost with the indentation.
std::string without_blanks(std::string text) {
  for (const std::string_view blank : {" ", "\\n"})
    for (size_t at = text.find(blank); at != std::string::npos; at = text.find(blank, at)) text.erase(at, blank.size());
  return text;
}

// A value of several words without quotes ends, in one line, behind the first; texts of several lines and embedded YAML
// come back with other words or another style.
TEST(Rebuild, GivesBackTheManifestsOfTheBundles) {
  std::vector<std::string> different;
  int manifests = 0;
  for (const auto& path : testing_cases::files_in(testdata() / "bundles")) {
    if (path.extension() != ".yaml") continue;
    for (const std::string& manifest : manifests_of(content(path))) {
      doc::Diagnostics none;
      const auto values = doc::parse_yaml(std::make_shared<const doc::Source>(doc::Source{"a.yaml", manifest}), none);
      if (values.size() != 1 || !values[0].find("apiVersion") || !values[0].find("kind")) continue;
      const std::string kind = *values[0].find("kind")->as_string();
      if (schema::find_schema(*values[0].find("apiVersion")->as_string(), kind) == nullptr) continue;
      ++manifests;
      std::string flat;
      std::istringstream lines(manifest);
      for (std::string line; std::getline(lines, line);) flat += line.substr(line.find_first_not_of(' ')) + "\n";
      const std::string wanted = without_blanks(doc::to_json(values[0]));
      const std::string what = path.stem().string() + " " + kind;
      if (without_blanks(json(read_page(flat))) != wanted) different.push_back(what);
      std::ranges::replace(flat, '\n', ' ');
      if (without_blanks(json(read_page(flat))) != wanted) different.push_back(what + " in one line");
    }
  }
  EXPECT_GT(manifests, 100);
  const std::vector<std::string> known = {
      "dual-stack-workers CronJob",
      "gpu-operator NodeFeatureDiscovery",
      "gpu-operator NodeFeatureDiscovery in one line",
      "gpu-operator NodeFeatureRule in one line",
      "host-device-eight Pod in one line",
      "ib-eight-rails Pod in one line",
      "ib-openshift-one-rail NodeFeatureDiscovery",
      "ib-openshift-one-rail NodeFeatureDiscovery in one line",
      "jobset-two-rails JobSet in one line",
      "llm-inference-service LLMInferenceService in one line",
      "lws-eight-rails LeaderWorkerSet in one line",
      "mpijob-nccl MPIJob",
      "mpijob-nccl MPIJob in one line",
      "roce-kubernetes-sriov-operator NodeFeatureRule in one line",
      "roce-openshift Pod in one line",
  };
  EXPECT_EQ(different, known);
}

}  // namespace
}  // namespace railbed::check
