// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_wants.h"

#include <gtest/gtest.h>

#include "agent/cluster/test_cluster.h"

namespace railbed::agent {
namespace {

kube::Objects all(std::vector<doc::Value> objects) {
  kube::Objects out;
  for (doc::Value& object : objects) {
    const kube::ObjectKey key = kube::key_of(object);
    out[key] = std::make_shared<const doc::Value>(std::move(object));
  }
  return out;
}

doc::Value network(const std::string& name, const std::string& ipam, const std::string& resource = "") {
  doc::Value out = network_object(name, R"({"cniVersion":"1.0.0","plugins":[{"type":"sriov","ipam":)" + ipam + "}]}");
  doc::Value annotations = doc::Value::object();
  if (!resource.empty()) annotations.set("k8s.v1.cni.cncf.io/resourceName", resource);
  out.find("metadata")->set("annotations", std::move(annotations));
  return out;
}
std::string whereabouts_ipam(const char* subnet, const char* more = "") {
  return fmt::format(R"({{"type":"whereabouts","range":"{}"{}}})", subnet, more);
}

doc::Value ended(doc::Value pod) {
  doc::Value status = doc::Value::object();
  status.set("phase", "Succeeded");
  pod.set("status", std::move(status));
  return pod;
}

std::string shown_wants(const std::vector<ipam::CellWant>& wants) {
  std::string out;
  for (const ipam::CellWant& want : wants)
    out += fmt::format("{}{}{} {}", out.empty() ? "" : ", ", want.network_name.empty() ? "" : want.network_name + ":",
                       want.ranges.front().addresses, want.addresses);
  return out;
}

TEST(CellWants, AreThoseOfBoundPods) {
  const kube::Objects networks =
      all({network("rail0", whereabouts_ipam("10.0.0.0/28")), network("rail1", whereabouts_ipam("10.0.1.0/28")),
           network("again", whereabouts_ipam("10.0.0.0/28")), network("unused", whereabouts_ipam("10.0.9.0/28"))});
  EXPECT_EQ(shown_wants(cell_wants({}, networks, {})), "");
  EXPECT_EQ(shown_wants(cell_wants(all({pod_object("a", {{kNetworksKey, "rail0, rail0, ai/rail1"}}),
                                        pod_object("b", {{kNetworksKey, R"([{"name":"again"}])"}}), pod_object("plain"),
                                        ended(pod_object("done", {{kNetworksKey, "rail0"}}))}),
                                   networks, {})),
            "10.0.0.1-10.0.0.14 3, 10.0.1.1-10.0.1.14 1");
  EXPECT_EQ(
      shown_wants(cell_wants(all({pod_object("a", {{"v1.multus-cni.io/default-network", "ai/rail0"}})}), networks, {})),
      "10.0.0.1-10.0.0.14 1");
}

TEST(CellWants, AreAsManyAsTheVfsHere) {
  const kube::Objects networks = all({network("rail0", whereabouts_ipam("10.0.0.0/24"), "x/rail"),
                                      network("rail0b", whereabouts_ipam("10.0.0.0/24"), "x/rail"),
                                      network("rail1", whereabouts_ipam("10.0.0.0/24"), "x/other"),
                                      network("away", whereabouts_ipam("10.0.5.0/24"), "x/away")});
  const std::map<std::string, uint64_t> vfs{{"x/rail", 8}, {"x/other", 2}};
  EXPECT_EQ(shown_wants(cell_wants({}, networks, vfs)), "10.0.0.1-10.0.0.254 10")
      << "networks of one resource share its VFs";
  EXPECT_EQ(shown_wants(cell_wants(all({pod_object("a", {{kNetworksKey, "rail0, rail0b, rail1, rail1, rail1, away"}})}),
                                   networks, vfs)),
            "10.0.5.1-10.0.5.254 1, 10.0.0.1-10.0.0.254 11")
      << "more interfaces than VFs are bound: one pod has ended, and is not known to have";
}

std::string times(const std::string& name, int count) {
  std::string out = name;
  for (int i = 1; i < count; ++i) out += "," + name;
  return out;
}

TEST(CellWants, CountWhatAnAddAccepts) {
  const kube::Objects networks = all({network("rail0", whereabouts_ipam("10.0.0.0/16"))});
  const auto wants = [&](int count) {
    return shown_wants(cell_wants(
        all({pod_object("a", {{kNetworksKey, "rail0"}}), pod_object("b", {{kNetworksKey, times("rail0", count)}})}),
        networks, {}));
  };
  EXPECT_EQ(wants(64), "10.0.0.1-10.0.255.254 65");
  EXPECT_EQ(wants(65), "10.0.0.1-10.0.255.254 1");
  EXPECT_EQ(wants(3000), "10.0.0.1-10.0.255.254 1");
}

TEST(CellWants, AreBoundedForANode) {
  const kube::Objects networks = all({network("rail0", whereabouts_ipam("10.0.0.0/16"))});
  std::vector<doc::Value> pods;
  for (int i = 0; i < 100; ++i) pods.push_back(pod_object(fmt::format("p{}", i), {{kNetworksKey, times("rail0", 60)}}));
  EXPECT_EQ(shown_wants(cell_wants(all(std::move(pods)), networks, {})), "10.0.0.1-10.0.255.254 4080");
}

TEST(CellWants, AreOfRangesThatNodesShareOnly) {
  const kube::Objects networks =
      all({network("local", R"({"type":"host-local","subnet":"10.0.0.0/24"})"), network("none", "{}"),
           network("wrong", whereabouts_ipam("10.0.0.0")),
           network("named", whereabouts_ipam("10.0.0.0/24", R"(,"network_name":"blue")")),
           network_object("broken", "{"), network_object("file", ""),
           network("both", R"({"type":"whereabouts","ipRanges":[{"range":"10.0.3.0/24"},{"range":"fd00::/64"}]})")});
  EXPECT_EQ(
      shown_wants(cell_wants(all({pod_object("a", {{kNetworksKey, "local,none,wrong,named,broken,file,both,gone"}}),
                                  pod_object("b", {{kNetworksKey, "[{"}})}),
                             networks, {})),
      "10.0.3.1-10.0.3.254 1, fd00::1-fd00::ffff:ffff:ffff:ffff 1, blue:10.0.0.1-10.0.0.254 1");
}

}  // namespace
}  // namespace railbed::agent
