// SPDX-License-Identifier: Apache-2.0
#include "preflight/read_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "kube/fake/api_server.h"

namespace railbed::preflight {
namespace {

using doc::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRoles = R"(
kind: ClusterRole
metadata: {name: railbed-agent}
rules:
- {apiGroups: [""], resources: [pods, nodes], verbs: [list]}
- {apiGroups: [""], resources: [pods/status], verbs: [patch]}
---
kind: Role
metadata: {name: railbed-operator, namespace: railbed}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}
---
kind: ClusterRoleBinding
metadata: {name: railbed-agent}
)";

// An API server with discovery, which answers reviews: whatever `denied` names is not allowed.
struct World {
  kube::fake::ApiServer server;
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  std::string denied = "none", refused = "none";

  struct Front : kube::Transport {
    explicit Front(World& of) : world(of) {}
    kube::Answer<kube::Response> send(const kube::Request& request, std::stop_token stop) override {
      if (request.target == "/version") return kube::Response{200, R"({"gitVersion": "v1.36.2"})"};
      if (request.target.find(world.refused) != std::string::npos)
        return std::unexpected(kube::refused(request.to_string(), 403, R"({"kind":"Status","message":"not yours"})"));
      if (request.target == "/apis")
        return kube::Response{200, R"({"groups": [{"versions": [{"groupVersion": "apps/v1"}]}]})"};
      if (request.target.find("subjectaccessreviews") != std::string::npos) {
        const bool allowed = request.body.find(world.denied) == std::string::npos;
        reviews.push_back(request.body);
        return kube::Response{201, fmt::format(R"({{"status": {{"allowed": {}}}}})", allowed)};
      }
      return world.server.send(request, stop);
    }
    kube::Answer<std::unique_ptr<kube::ByteStream>> open(const kube::Request& request, std::stop_token stop) override {
      return world.server.open(request, stop);
    }
    World& world;
    std::vector<std::string> reviews;
  } front{*this};

  void put(const std::string& path, const std::string& kind, const std::string& ns, const std::string& name) {
    server.put(path, kube::fake::object(kind, ns, name));
  }
  ClusterLook look(const std::vector<GrantedRule>& granted = {}) {
    kube::Client client(front, *clock);
    auto found = look_at_cluster(client, front, "railbed", granted);
    EXPECT_TRUE(found.has_value());
    return found ? *found : ClusterLook();
  }
};

TEST(ReadCluster, AsksForEverythingThatIsJudged) {
  World world;
  world.put("/api/v1/nodes/node1", "Node", "", "node1");
  world.put("/apis/apps/v1/namespaces/a/daemonsets/multus", "DaemonSet", "a", "multus");
  world.put("/apis/apps/v1/namespaces/a/deployments/operator", "Deployment", "a", "operator");
  world.put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x", "CustomResourceDefinition", "", "x");
  world.put("/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/a/ippools/p", "IPPool", "a", "p");
  world.put("/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/a/nodeslicepools/s", "NodeSlicePool", "a", "s");
  world.put("/api/v1/namespaces/kube-system/configmaps/cilium-config", "ConfigMap", "kube-system", "cilium-config");
  world.put("/api/v1/namespaces/railbed", "Namespace", "", "railbed");
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  world.put(rbac + "clusterroles/edit", "ClusterRole", "", "edit");
  world.put(rbac + "namespaces/a/roles/r", "Role", "a", "r");
  world.put(rbac + "clusterrolebindings/b", "ClusterRoleBinding", "", "b");
  world.put(rbac + "namespaces/a/rolebindings/c", "RoleBinding", "a", "c");
  const std::string sriov = "/apis/sriovnetwork.openshift.io/v1/namespaces/nv/";
  world.put(sriov + "sriovnetworknodepolicies/p", "SriovNetworkNodePolicy", "nv", "p");
  world.put(sriov + "sriovnetworks/n", "SriovNetwork", "nv", "n");
  world.put(sriov + "sriovibnetworks/i", "SriovIBNetwork", "nv", "i");
  world.put("/apis/k8s.cni.cncf.io/v1/namespaces/a/network-attachment-definitions/d", "NetworkAttachmentDefinition",
            "a", "d");
  const ClusterLook look = world.look();
  EXPECT_EQ(look.version, "v1.36.2");
  EXPECT_THAT(look.groups, ElementsAre("apps/v1"));
  const auto names = [](const std::vector<Value>& objects) {
    std::string out;
    for (const Value& one : objects) out += kube::describe(one) + ";";
    return out;
  };
  EXPECT_EQ(names(look.nodes), "Node node1;");
  EXPECT_EQ(names(look.workloads), "DaemonSet a/multus;Deployment a/operator;");
  EXPECT_EQ(names(look.definitions), "CustomResourceDefinition x;");
  EXPECT_EQ(names(look.pools), "IPPool a/p;NodeSlicePool a/s;");
  EXPECT_EQ(names(look.policies), "SriovNetworkNodePolicy nv/p;");
  EXPECT_EQ(names(look.networks), "SriovNetwork nv/n;SriovIBNetwork nv/i;");
  EXPECT_EQ(names(look.attachments), "NetworkAttachmentDefinition a/d;");
  EXPECT_EQ(names(look.roles), "ClusterRole edit;Role a/r;");
  EXPECT_EQ(names(look.bindings), "ClusterRoleBinding b;RoleBinding a/c;");
  EXPECT_EQ(names(look.config_maps), "ConfigMap kube-system/cilium-config;");
  EXPECT_TRUE(look.own_namespace.has_value());
  EXPECT_THAT(look.unknown, IsEmpty());
  for (const std::string& request : world.server.requests()) EXPECT_TRUE(request.starts_with("GET ")) << request;
}

TEST(ReadCluster, ReportsWhatItMayNotSeeAndLooksAtTheRest) {
  World world;
  world.put("/api/v1/nodes/node1", "Node", "", "node1");
  world.refused = "daemonsets";
  const ClusterLook look = world.look();
  EXPECT_THAT(look.unknown, ElementsAre("DaemonSet: GET /apis/apps/v1/daemonsets: 403: not yours"));
  EXPECT_EQ(look.nodes.size(), 1u);
  world.refused = "/apis";
  EXPECT_GE(world.look().unknown.size(), 5u);
}

TEST(ReadCluster, AsksForTheRightsOfServiceAccountsThatAreThere) {
  World world;
  world.denied = "patch";
  const std::vector<GrantedRule> granted = rules_of(kRoles);
  EXPECT_THAT(world.look(granted).missing_rights, IsEmpty());
  EXPECT_THAT(world.front.reviews, IsEmpty()) << "there are no service accounts yet";
  for (const char* name : {"railbed-agent", "railbed-operator"})
    world.put(fmt::format("/api/v1/namespaces/railbed/serviceaccounts/{}", name), "ServiceAccount", "railbed", name);
  const ClusterLook look = world.look(granted);
  ASSERT_EQ(look.missing_rights.size(), 1u);
  EXPECT_EQ(look.missing_rights.front().account, "railbed-agent");
  EXPECT_EQ(look.missing_rights.front().right, "patch pods/status");
  ASSERT_EQ(world.front.reviews.size(), 4u);
  EXPECT_EQ(world.front.reviews[2],
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","metadata":{},"spec":)"
            R"({"user":"system:serviceaccount:railbed:railbed-agent","resourceAttributes":{"verb":"patch","group":"",)"
            R"("resource":"pods","subresource":"status"}}})");
  world.denied = "leases";
  EXPECT_EQ(world.look(granted).missing_rights.at(0).right, "get leases in namespace railbed");
  world.refused = "subjectaccessreviews";
  EXPECT_THAT(world.look(granted).unknown,
              ElementsAre("SubjectAccessReview: POST /apis/authorization.k8s.io/v1/subjectaccessreviews: 403: "
                          "not yours"));
}

}  // namespace
}  // namespace railbed::preflight
