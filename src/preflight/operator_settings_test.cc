// SPDX-License-Identifier: Apache-2.0
#include "preflight/operator_settings.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "preflight/test_objects.h"

namespace railbed::preflight {
namespace {

using doc::Value;

Value stored(const std::string& kind, const std::string& ns, const std::string& name, const std::string& more) {
  return json(
      fmt::format(R"({{"kind": "{}", "metadata": {{"namespace": "{}", "name": "{}"}}, {}}})", kind, ns, name, more));
}
Value program(const std::string& kind, const std::string& image, const std::string& args) {
  return stored(
      kind, "railbed", "x",
      fmt::format(R"("spec": {{"template": {{"spec": {{"containers": [{{"image": "{}", "args": [{}]}}]}}}}}})", image,
                  args));
}
Value network_of(const std::string& resource) {
  return json(fmt::format(R"({{"kind": "NetworkAttachmentDefinition", "metadata": {{"namespace": "ai", "name": "net",
      "annotations": {{"k8s.v1.cni.cncf.io/resourceName": "{}"}}}}}})",
                          resource));
}

TEST(PrefixesInUse, AreThoseOfThePoliciesResources) {
  ClusterLook look;
  look.policies = {
      stored("SriovNetworkNodePolicy", "nvidia-network-operator", "p", R"("spec": {"resourceName": "sriov_rdma_vf"})")};
  look.attachments = {network_of("nvidia.com/sriov_rdma_vf"), network_of("rdma/shared"), network_of("")};
  look.nodes = {json(R"({"kind": "Node", "metadata": {"name": "gpu1"}, "status": {"allocatable": {"cpu": "8",
      "nvidia.com/gpu": "8", "openshift.io/sriov_rdma_vf": "4"}}})")};
  look.workloads = {json(R"({"kind": "Deployment", "metadata": {"namespace": "nv", "name": "op"}, "spec": {"template": {
      "metadata": {"labels": {"name": "sriov-network-operator"}},
      "spec": {"containers": [{"image": "x", "env": [{"name": "RESOURCE_PREFIX", "value": "intel.com"}]}]}}}})")};
  const PrefixPlaces all{{"nvidia.com", {"NetworkAttachmentDefinition ai/net"}},
                         {"openshift.io", {"Node gpu1"}},
                         {"intel.com", {"Deployment nv/op"}}};
  EXPECT_EQ(prefixes_in_use(look), all);
  look.policies.clear();
  EXPECT_EQ(prefixes_in_use(look).size(), 1u) << "without policies no name is one of theirs";
  EXPECT_TRUE(prefixes_in_use({}).empty());
}

TEST(SettingsOfTheOperator, AreThoseOfItsDeploymentOrTheDefaults) {
  ClusterLook look;
  look.ns = "railbed";
  OperatorSettings got = operator_settings(look);
  EXPECT_FALSE(got.is_installed);
  EXPECT_EQ(got.resource_prefix, "openshift.io");
  EXPECT_EQ(got.namespaces, (std::set<std::string>{"nvidia-network-operator", "openshift-sriov-network-operator",
                                                   "railbed", "sriov-network-operator"}));
  look.workloads = {
      program("Deployment", "r/railbed-control:1",
              R"("operator", "--resource-prefix", "nvidia.com", "--policy-namespaces=a,b", "--namespace=c")"),
      program("DaemonSet", "r/railbed-node:1", R"("agent", "--resource-prefix=intel.com")"),
      program("Deployment", "other:1", R"("operator", "--resource-prefix", "none")")};
  got = operator_settings(look);
  EXPECT_TRUE(got.is_installed);
  EXPECT_EQ(got.resource_prefix, "nvidia.com");
  EXPECT_EQ(got.namespaces, (std::set<std::string>{"a", "b", "c", "railbed"}));
  EXPECT_EQ(got.agents_prefix, "intel.com");
}

TEST(UncountedNamespaces, HavePoliciesOrNetworksThatNoOperatorServes) {
  ClusterLook look;
  look.ns = "railbed";
  const auto policy = [](const std::string& ns, const std::string& name) {
    return stored("SriovNetworkNodePolicy", ns, name, R"("spec": {})");
  };
  look.policies = {policy("railbed", "a"), policy("sriov-network-operator", "a"), policy("sriov", "a"),
                   policy("team", "a"), policy("elsewhere", "default")};
  look.networks = {stored("SriovNetwork", "nets", "far", R"("spec": {"networkNamespace": "ai"})"),
                   stored("SriovNetwork", "near", "near", R"("spec": {"networkNamespace": "near"})"),
                   stored("SriovIBNetwork", "plain", "plain", R"("spec": {})")};
  look.workloads = {
      json(R"({"kind": "Deployment", "metadata": {"namespace": "sriov", "name": "op"}, "spec": {"template": {
      "metadata": {"labels": {"name": "sriov-network-operator"}}}}})")};
  EXPECT_EQ(uncounted_namespaces(look, operator_settings(look)),
            (std::map<std::string, bool>{{"nets", false}, {"sriov", true}, {"team", false}}));
}

}  // namespace
}  // namespace railbed::preflight
