// SPDX-License-Identifier: Apache-2.0
// Pods and networks from manifests: those of a directory, and those that `railbed up` has handed over.
#include "agent/pod/manifest_source.h"

#include <gtest/gtest.h>

#include "agent/pod/reservations.h"
#include "agent/pod/test_meta.h"
#include "doc/json.h"
#include "node/handed_manifests.h"
#include "node/resource_prefix.h"

namespace railbed::agent {
namespace {

TEST_F(MetaTest, TakesPodsNetworksAndAddressesFromManifests) {
  kernel.put_file("/etc/railbed/net.yaml", R"(
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: rail, namespace: ns }
spec:
  config: '{"cniVersion":"1.0.0","type":"macvlan","master":"eth1",
    "ipam":{"type":"whereabouts","range":"10.9.0.0/24"}}'
)");
  std::string pod_text = R"(
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  namespace: ns
  annotations: { k8s.v1.cni.cncf.io/networks: rail }
spec: { containers: [{ name: main, image: none }] }
---
)";
  auto pod_of = [&](const std::string& name) {
    std::string text = pod_text;
    return text.replace(text.find("NAME"), 4, name);
  };
  kernel.put_file("/etc/railbed/pods.yaml", pod_of("a") + pod_of("b"));
  ManifestSource source(kernel, *store, "/etc/railbed", {});
  Reservations reservations;
  auto known = source.pod("ns", "a", "u1");
  ASSERT_TRUE(known) << known.error().to_string();
  EXPECT_EQ(known->uid, "u1");
  EXPECT_TRUE(source.pod("ns", "a-node1", "u1"));  // kubelet's own pods
  EXPECT_EQ(source.pod("ns", "c", "").error().code, Code::kNotFound);
  EXPECT_TRUE(source.network("ns", "rail"));

  // The second pod comes first and still gets the second address.
  for (auto [name, address] : {std::pair{"b", "10.9.0.2/24"}, std::pair{"a", "10.9.0.1/24"}}) {
    auto turn = engine.turn(std::chrono::seconds(1));
    auto pod_info = source.pod("ns", name, "");
    ASSERT_TRUE(turn && pod_info);
    auto planned = reservations.take(*turn, source, pod_info->key(), {pod_info->key() + "@c", "net1"});
    ASSERT_TRUE(planned) << planned.error().to_string();
    ASSERT_TRUE(planned->has_value());
    EXPECT_EQ((*planned)->at(0).address.to_string(), address);
  }
  kernel.put_file("/etc/railbed/pods.yaml", pod_of("c"));
  EXPECT_TRUE(source.pod("ns", "c", ""));
  EXPECT_FALSE(source.pod("ns", "a", ""));
}

TEST_F(MetaTest, ManifestsGiveNetworksAsValues) {
  kernel.put_file("/etc/railbed/net.yaml", R"(
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: broken, namespace: ns }
spec: { config: '{"type": }' }
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: list, namespace: ns }
spec: { config: '[]' }
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: file, namespace: ns }
spec: {}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: { name: rail0, namespace: op }
spec: { resourceName: rail0, networkNamespace: ns, vlan: 100 }
)");
  ManifestSource source(kernel, *store, "/etc/railbed", {});
  EXPECT_EQ(source.network("ns", "broken").error().story(),
            "network ns/broken: network configuration:1:10: expected a value, found '}'");
  EXPECT_EQ(source.network("ns", "broken").error().code, Code::kInvalid);
  EXPECT_EQ(source.network("ns", "list").error().story(),
            "network ns/list: network configuration: expected a JSON object, found a list");
  EXPECT_TRUE(source.network("ns", "file")->config.is_null());
  auto rail = source.network("ns", "rail0");
  ASSERT_TRUE(rail) << rail.error().story();
  EXPECT_EQ(rail->resource, "openshift.io/rail0");
  EXPECT_EQ(doc::to_json(*rail->config.find("vlan")), "100");
  // The prefix of its own counts where neither `up` nor the operator said one.
  const auto resource = [&] {
    ManifestSource next(kernel, *store, "/etc/railbed", {.resource_prefix = "own.com"});
    return next.network("ns", "rail0").value().resource;
  };
  EXPECT_EQ(resource(), "own.com/rail0");
  ASSERT_TRUE(node::keep_given_prefix(*store, "intel.com"));
  EXPECT_EQ(resource(), "intel.com/rail0");
  ASSERT_TRUE(node::keep_ordered_prefix(*store, "nvidia.com"));
  EXPECT_EQ(resource(), "nvidia.com/rail0");
}

TEST_F(MetaTest, ManifestsAreTheFoldersAndThoseThatWereHandedOver) {
  const auto source_of = [](const std::string& name, const std::string& named, const std::string& network) {
    const std::string text = fmt::format(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {}, namespace: ns, annotations: {{ "
        "k8s.v1.cni.cncf.io/networks: {} }} }}\nspec: {{ containers: [] }}\n",
        named, network);
    return std::make_shared<const doc::Source>(doc::Source{name, text});
  };
  const auto network_of = [](ManifestSource& source, const std::string& named) {
    auto found = source.pod("ns", named, "");
    return found ? found->annotations.at("k8s.v1.cni.cncf.io/networks") : found.error().story();
  };
  ManifestSource source(kernel, *store, "/etc/railbed", {});
  ASSERT_TRUE(node::hand_over(*store, {source_of("/root/a.yaml", "a", "one")}));
  EXPECT_EQ(network_of(source, "a"), "one") << "without a folder";
  EXPECT_EQ(network_of(source, "b"), "there is no pod ns/b in /etc/railbed, nor in what `railbed up` handed over");
  kernel.put_file("/etc/railbed/pods.yaml",
                  source_of("", "a", "two")->text + "---\n" + source_of("", "b", "two")->text);
  EXPECT_EQ(network_of(source, "a"), "one") << "what was said last counts";
  EXPECT_EQ(network_of(source, "b"), "two");
  ManifestSource next(kernel, *store, "/etc/railbed", {});
  EXPECT_EQ(network_of(next, "a"), "one") << "the next agent knows it";
  // Of its own folder the agent knows the files as they are now.
  ASSERT_TRUE(node::hand_over(*store, {source_of("/etc/railbed/pods.yaml", "a", "one")}));
  EXPECT_EQ(network_of(source, "a"), "two");
  ASSERT_TRUE(node::forget_handed_over(*store));
  EXPECT_EQ(network_of(source, "a"), "two");
}

TEST_F(MetaTest, ManifestsKeepTheStatusAsANote) {
  ManifestSource source(kernel, *store, "/etc/railbed", {});
  doc::Value status = doc::Value::array();
  status.push(doc::Value::object()).set("name", "ns/rail");
  ASSERT_TRUE(source.publish_status({.ns = "ns", .name = "a"}, "ns/a@c", status));
  EXPECT_EQ(store->note("network-status/ns/a@c").value(), "[{\n    \"name\": \"ns/rail\"\n}]");
  ASSERT_TRUE(source.publish_status({.ns = "ns", .name = "a"}, "ns/a@c", doc::Value()));
  EXPECT_EQ(store->note("network-status/ns/a@c").value(), std::nullopt);
}

}  // namespace
}  // namespace railbed::agent
