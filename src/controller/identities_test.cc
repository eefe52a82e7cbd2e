// SPDX-License-Identifier: Apache-2.0
#include "controller/identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/test_cluster.h"

namespace railbed::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "ai/a" on `node`, with that network-status.
doc::Value pod_with(const std::string& name, const std::string& node, const std::string& status,
                    const std::string& phase = "Running") {
  doc::Value pod = testing::object("v1", "Pod", "ai", name);
  pod.find("metadata")
      ->set("annotations", doc::Value::object())
      .set("k8s.v1.cni.cncf.io/network-status", doc::Value(status));
  pod.set("spec", doc::Value::object()).set("nodeName", node);
  pod.set("status", doc::Value::object()).set("phase", phase);
  return pod;
}

std::string one_interface(const std::string& network, const std::string& mac, const std::string& more = "") {
  return fmt::format(R"([{{"name":"cbr0","interface":"eth0","mac":"0a:58:0a:00:00:01","default":true}},)"
                     R"({{"name":"{}","interface":"net1","mac":"{}"{}}}])",
                     network, mac, more);
}

std::vector<std::string> shared_by(const std::vector<doc::Value>& pods) {
  Identities all;
  for (doc::Value pod : pods) {
    identity_trim()(pod);
    all.add(pod);
  }
  std::vector<std::string> out;
  for (const SharedIdentity& one : all.shared()) out.push_back(to_text(one));
  return out;
}

constexpr const char* kMac = "02:00:00:00:00:09";
constexpr const char* kVf = R"(,"device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:3b:00.2"}})";

TEST(IdentitiesOfPods, OfTwoNodesAreReported) {
  EXPECT_THAT(shared_by({pod_with("a", "node1", one_interface("ai/rail0", kMac)),
                         pod_with("b", "node2", one_interface("ai/rail0", "02:00:00:00:00:0A")),
                         pod_with("c", "node2", one_interface("ai/rail0", kMac))}),
              ElementsAre("MAC 02:00:00:00:00:09: ai/a (net1 of ai/rail0, node1), ai/c (net1 of ai/rail0, node2)"));
}

TEST(IdentitiesOfPods, AGuidCountsInAllNetworks) {
  const auto ipoib = [](const std::string& queue_pair) {
    return queue_pair + ":fe:80:00:00:00:00:00:00:02:00:00:00:00:00:00:09";
  };
  EXPECT_THAT(shared_by({pod_with("a", "node1", one_interface("ai/ib0", ipoib("00:00:10:28"))),
                         pod_with("b", "node2", one_interface("other/ib", ipoib("20:00:19:07")))}),
              ElementsAre("GUID 0200:0000:0000:0009: ai/a (net1 of ai/ib0, node1), ai/b (net1 of other/ib, node2)"));
}

TEST(IdentitiesOfPods, AMacCountsBetweenVfsOfAnyNetwork) {
  EXPECT_THAT(shared_by({pod_with("a", "node1", one_interface("ai/rail0", kMac, kVf)),
                         pod_with("b", "node2", one_interface("evil/rail0", kMac, kVf))}),
              ElementsAre("MAC 02:00:00:00:00:09: ai/a (net1 of ai/rail0, node1), ai/b (net1 of evil/rail0, node2)"));
}

TEST(IdentitiesOfPods, WhatIsFineIsNotReported) {
  struct Case {
    const char* why;
    std::vector<doc::Value> pods;
  };
  for (const Case& one : {
           Case{"one node: ipvlan, or its agent has looked",
                {pod_with("a", "node1", one_interface("ai/rail0", kMac)),
                 pod_with("b", "node1", one_interface("ai/rail0", kMac))}},
           Case{"networks that are apart",
                {pod_with("a", "node1", one_interface("ai/rail0", kMac)),
                 pod_with("b", "node2", one_interface("ai/rail1", kMac))}},
           Case{"a pod that has ended",
                {pod_with("a", "node1", one_interface("ai/rail0", kMac)),
                 pod_with("b", "node2", one_interface("ai/rail0", kMac), "Succeeded")}},
           Case{"no address",
                {pod_with("a", "node1", one_interface("ai/rail0", "00:00:00:00:00:00")),
                 pod_with("b", "node2", one_interface("ai/rail0", "00:00:00:00:00:00")),
                 pod_with("c", "node3", one_interface("ai/rail0", ""))}},
           Case{"no status that can be read",
                {pod_with("a", "node1", "["), pod_with("b", "node2", "[1, null, {\"mac\": 7}]"),
                 pod_with("c", "node2", R"(]} {"a":[)")}},
       })
    EXPECT_THAT(shared_by(one.pods), IsEmpty()) << one.why;
}

TEST(IdentitiesOfPods, ManyHoldersAreCounted) {
  std::vector<doc::Value> pods;
  for (int i = 0; i < 8; ++i)
    pods.push_back(pod_with(fmt::format("p{}", i), fmt::format("n{}", i), one_interface("ai/r", kMac)));
  EXPECT_THAT(shared_by(pods),
              ElementsAre("MAC 02:00:00:00:00:09: ai/p0 (net1 of ai/r, n0), ai/p1 (net1 of ai/r, n1), ai/p2 (net1 of "
                          "ai/r, n2), ai/p3 (net1 of ai/r, n3), ai/p4 (net1 of ai/r, n4), and 3 more"));
}

}  // namespace
}  // namespace railbed::controller
