// SPDX-License-Identifier: Apache-2.0
#include "check/rules/lookups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doc/yaml.h"

namespace railbed::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A bundle with everything that points into it.
struct World {
  Bundle bundle;
  std::vector<PodTemplate> pods;
  Views views;

  explicit World(const std::string& text, const Settings& settings = {}) {
    doc::Diagnostics problems;
    const auto source = std::make_shared<doc::Source>(doc::Source{"a.yaml", text});
    bundle = read_bundle({source}, problems);
    EXPECT_EQ(doc::render(problems), "");
    pods = find_pods(bundle);
    views = make_views(bundle, pods, {}, settings);
  }
};

doc::Value value_of(const std::string& text) {
  doc::Diagnostics problems;
  return doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{"a.yaml", text}), problems).at(0);
}

TEST(Lookups, ValuesAtAPath) {
  const doc::Value value = value_of("spec:\n  a: {b: \"12\", c: true}\n  list: [x, 1, v]\n  word: z\n");
  std::vector<std::string> texts;
  for (const Word& word : texts_at(value, "spec.list")) texts.push_back(word.text);
  EXPECT_THAT(texts, ElementsAre("x", "v"));
  EXPECT_EQ(texts_at(value, "spec.word").size(), 1U);
  EXPECT_EQ(key_span(value, "spec.word").to_string(), "a.yaml:4:3");
  EXPECT_FALSE(key_span(value, "spec.other").known());
}

TEST(Lookups, AWordInsideATextStandsInItsFile) {
  const doc::Value value = value_of("data:\n  conf: |\n    first=1\n    second=2\n");
  const doc::Value& text = *at(value, "data.conf");
  EXPECT_EQ(inside(text, "second").to_string(), "a.yaml:4:5");
  EXPECT_EQ(inside(text, "third").to_string(), text.span.to_string());
}

// "key type resource plugins" of each network.
std::vector<std::string> networks_in(const std::string& text, const Settings& settings = {}) {
  const World world(text, settings);
  std::vector<std::string> out;
  for (const NetworkView& network : world.views.networks) {
    std::string types;
    for (const doc::Value& plugin : network.plugins) types += fmt::format(" {}", text_at(plugin, "type"));
    out.push_back(fmt::format("{} {}{}", network.key, network.resource.empty() ? "-" : network.resource, types));
  }
  return out;
}

TEST(Lookups, NetworksOfAllKinds) {
  EXPECT_THAT(networks_in(R"(
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: ib0, namespace: op}
spec: {resourceName: ib0, networkNamespace: ai, metaPlugins: '{"type": "rdma"}'}
---
apiVersion: mellanox.com/v1alpha1
kind: HostDeviceNetwork
metadata: {name: hd}
spec: {resourceName: hostdev, networkNamespace: ai}
---
apiVersion: mellanox.com/v1alpha1
kind: MacvlanNetwork
metadata: {name: mv}
spec: {master: ens1f0, networkNamespace: ai}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: nad
  namespace: ai
  annotations: {k8s.v1.cni.cncf.io/resourceName: rdma/x}
spec:
  config: '{"cniVersion": "0.3.1", "plugins": [{"type": "ipoib"}, {"type": "tuning"}]}'
)"),
              ElementsAre("ai/ib0 openshift.io/ib0 ib-sriov rdma", "ai/hd nvidia.com/hostdev host-device",
                          "ai/mv - macvlan", "ai/nad rdma/x ipoib tuning"));
  Settings settings;
  settings.graph.resource_prefix = "nvidia.com";
  EXPECT_THAT(networks_in("apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\n"
                          "metadata: {name: a, namespace: op}\nspec: {resourceName: r}\n",
                          settings),
              ElementsAre("op/a nvidia.com/r sriov"));
}

constexpr const char* kPolicies = R"(
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: a, namespace: op}
spec: {resourceName: r, numVfs: 4, nicSelector: {vendor: "15b3"}, nodeSelector: {}, isRdma: true}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: default, namespace: op}
spec: {resourceName: r, numVfs: 4, nicSelector: {vendor: "15b3"}, nodeSelector: {}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: net, namespace: op}
spec: {resourceName: r, networkNamespace: ai}
---
apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  sriovDevicePlugin:
    config: '{"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": "r"}]}'
  rdmaSharedDevicePlugin:
    config: '{"configList": [{"resourceName": "shared"}]}'
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ai, annotations: {k8s.v1.cni.cncf.io/networks: "net, net@fast, gone"}}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 2, amd.com/gpu: 1}}}]}
)";

TEST(Lookups, WhoMakesWhat) {
  const World world(kPolicies);
  std::vector<std::string> made;
  for (const Producer& producer : world.views.producers) made.push_back(producer.resource);
  EXPECT_THAT(made, ElementsAre("openshift.io/r", "nvidia.com/r", "rdma/shared"));
  EXPECT_EQ(world.views.policies_of("openshift.io/r").size(), 1U) << "the one named default is ignored";
  EXPECT_THAT(world.views.policies_of("openshift.io/s"), IsEmpty());
  ASSERT_NE(world.views.producer("nvidia.com/r"), nullptr);
  EXPECT_EQ(world.views.producer("nvidia.com/r")->by, Producer::By::kSriovPlugin);
  EXPECT_EQ(world.views.producer("nvidia.com/q"), nullptr);
}

TEST(Lookups, WhoUsesWhat) {
  const World world(kPolicies);
  ASSERT_EQ(world.views.pods.size(), 1U);
  const PodView& pod = world.views.pods[0];
  ASSERT_EQ(pod.networks.size(), 3U);
  EXPECT_EQ(pod.networks_with("openshift.io/r"), 2);
  EXPECT_THAT(pod.resources, ElementsAre("openshift.io/r"));
  EXPECT_EQ(pod.networks[0].interface, "net1");
  EXPECT_EQ(pod.networks[1].interface, "fast");
  EXPECT_EQ(pod.networks[2].network, nullptr);
  ASSERT_NE(world.views.network("ai/net"), nullptr);
  EXPECT_THAT(world.views.network("ai/net")->users, ElementsAre(0U)) << "a pod counts once";
  EXPECT_TRUE(world.views.rdma(*world.views.network("ai/net")));
  EXPECT_EQ(gpus_of(*pod.pod), 3);
}

TEST(Lookups, ANetworkInAnotherNamespaceIsFoundByItsName) {
  const World world(
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\n"
      "metadata: {name: net, namespace: op}\nspec: {resourceName: r}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: ai\n"
      "  annotations: {k8s.v1.cni.cncf.io/networks: net}\n"
      "spec: {containers: [{name: c}]}\n");
  EXPECT_EQ(world.views.pods[0].networks[0].key, "ai/net");
  EXPECT_EQ(world.views.pods[0].networks[0].network, &world.views.networks[0]);
}

}  // namespace
}  // namespace railbed::check
