// SPDX-License-Identifier: Apache-2.0
// Policies and networks in the namespaces for which manifests of the SR-IOV operator are written, and elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/test_operator.h"
#include "doc/members.h"

namespace railbed::controller {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNvidia = "nvidia-network-operator";

struct NamespacesTest : OperatorTest {
  static std::string policy_of(const std::string& ns, const std::string& name) {
    return fmt::format("/apis/sriovnetwork.openshift.io/v1/namespaces/{}/sriovnetworknodepolicies/{}", ns, name);
  }
  void put_in(const std::string& ns, Value policy) {
    policy.find("metadata")->set("namespace", ns);
    world.server.put(policy_of(ns, kube::key_of(policy).name), policy);
  }
  void put_operator_pod(const std::string& ns) {
    Value pod = object("v1", "Pod", ns, "sriov-network-operator");
    pod.find("metadata")->set("labels", json(R"({"name": "sriov-network-operator"})"));
    pod.set("status", json(R"({"phase": "Running"})"));
    world.server.put(pod_path(ns), pod);
  }
  static std::string pod_path(const std::string& ns) {
    return fmt::format("/api/v1/namespaces/{}/pods/sriov-network-operator", ns);
  }
  std::string condition_of(const std::string& ns, const std::string& name) {
    const Value stored = world.stored(policy_of(ns, name));
    const Value* status = stored.find("status");
    return status != nullptr ? first_condition(*status).text() : "";
  }
};

// As document D has them: policy and network in the namespace of NVIDIA's operator, which does not run here.
TEST_F(NamespacesTest, ServeManifestsOfTheSriovOperatorWhereTheyAre) {
  world.server.put(fmt::format("/api/v1/namespaces/{}", kNvidia), object("v1", "Namespace", "", kNvidia));
  start();
  node_with_nics("gpu1");
  put_in(kNvidia, policy("rail0", kP0));
  expect("the spec has the policy", [&] { return world.has_vfs("gpu1", 4); });
  world.report("gpu1", two_nics(), "Succeeded");
  expect("its status says that it is done", [&] { return condition_of(kNvidia, "rail0") == "Applied: "; });
  Value network = object("sriovnetwork.openshift.io/v1", "SriovNetwork", kNvidia, "gpu-sriov-network");
  network.set("spec", json(R"({"resourceName": "rail0", "networkNamespace": "llm"})"));
  world.server.put(
      fmt::format("/apis/sriovnetwork.openshift.io/v1/namespaces/{}/sriovnetworks/gpu-sriov-network", kNvidia),
      network);
  expect("the network is defined where it says", [&] {
    return !world.stored("/apis/k8s.cni.cncf.io/v1/namespaces/llm/network-attachment-definitions/gpu-sriov-network")
                .is_null();
  });
}

TEST_F(NamespacesTest, APolicyElsewhereGetsAnEventThatItIsIgnored) {
  start();
  node_with_nics("gpu1");
  put_in("team", policy("rail0", kP0));
  const std::string ignored =
      "Ignored: policies count in namespaces nvidia-network-operator, op, openshift-sriov-network-operator, "
      "sriov-network-operator; move it there, or add team to the operator's --policy-namespaces";
  expect("the condition says so", [&] { return condition_of("team", "rail0") == ignored; });
  expect_stays("no VFs are made of it", [&] { return world.spec("gpu1").find("numVfs") == std::string::npos; });
  // Nor does it matter when it goes: the last policy that counts is still deleted alone.
  world.put(policy("rail1", kP1));
  expect("that of the operator's namespace counts", [&] { return world.has_vfs("gpu1", 2); });
  world.server.erase(policy_of("team", "rail0"));
  world.server.erase(policy_path("rail1"));
  expect("it is gone", [&] { return world.spec("gpu1") == R"({"interfaces":[]})"; });
}

TEST_F(NamespacesTest, WhereTheStatusIsNotKeptAnEventSaysThatAPolicyIsIgnored) {
  world.server.prune = [](const std::string& path, Value& stored) {
    if (path.find("policies/") != std::string::npos && stored.find("status") != nullptr)
      stored.set("status", Value::object());
  };
  put_in("team", policy("rail0", kP0));
  start();
  expect_event("Ignored: Ignored: policies count in namespaces ");
}

TEST_F(NamespacesTest, AnOperatorThatTakesItsNamespaceBackChangesNoNode) {
  world.put_node("gpu1", {{"railbed.dev/managed", "true"}});
  start();
  expect("it has a state", [&] { return !world.stored(state_path("gpu1")).is_null(); });
  world.report("gpu1", two_nics());
  put_in(kNvidia, policy("rail0", kP0));
  world.put(policy("rail1", kP1));
  expect("both count", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  const auto says = [&](const std::string& reason) { return condition_of(kNvidia, "rail0").starts_with(reason); };
  expect("and say so", [&] { return says("Pending: ") && condition_of("op", "rail1").starts_with("Pending: "); });
  const std::string of_own = condition_of("op", "rail1");
  put_operator_pod(kNvidia);
  expect_event(
      "NamespaceTaken: an SR-IOV operator runs in namespace nvidia-network-operator now: railbed no longer serves its "
      "policies and networks; nodes keep the VFs that they have of them");
  expect_event("Held: it has VFs by policy nvidia-network-operator/rail0");
  expect("the policy no longer says what held before", [&] {
    return condition_of(kNvidia, "rail0") ==
           "Ignored: an SR-IOV operator runs in namespace nvidia-network-operator: its policies are that one's";
  });
  const int writes = world.writes_of(policy_of(kNvidia, "rail0"));
  expect_stays("the VFs stay", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  EXPECT_EQ(world.writes_of(policy_of(kNvidia, "rail0")), writes) << "said once";
  EXPECT_EQ(condition_of("op", "rail1"), of_own);
  // It goes again, and after a while its policies count as before.
  world.server.erase(pod_path(kNvidia));
  expect_event("NamespaceServed: no SR-IOV operator runs in namespace nvidia-network-operator any more");
  expect("nothing is held", [&] { return running->work.snapshot().held.empty(); });
  expect("its condition is that of a policy that counts", [&] { return says("Pending: "); });
  EXPECT_TRUE(world.has_vfs("gpu1", 4));
}

// While it runs in one namespace, what is in another one of the list is served for nodes that were taken over.
TEST_F(NamespacesTest, WhereAnOperatorRunsItsPoliciesAreItsOwn) {
  put_operator_pod("sriov-network-operator");
  put_in("sriov-network-operator", policy("theirs", kP0));
  put_in(kNvidia, policy("ours", kP1));
  world.put_node("gpu1", {{"railbed.dev/managed", "true"}});
  start();
  expect("it has a state", [&] { return !world.stored(state_path("gpu1")).is_null(); });
  world.report("gpu1", two_nics());
  expect("the one counts", [&] { return world.has_vfs("gpu1", 2); });
  expect_stays("the other one does not, and nothing is written to it",
               [&] { return !world.has_vfs("gpu1", 4) && condition_of("sriov-network-operator", "theirs").empty(); });
  EXPECT_THAT(world.events(), Not(HasSubstr("Held")));
}

// A namespace that is deleted takes its policies with it one after the other: no order of anybody.
TEST_F(NamespacesTest, PoliciesThatGoWithTheirNamespaceRemoveNoVfs) {
  const std::string path = fmt::format("/api/v1/namespaces/{}", kNvidia);
  world.server.put(path, object("v1", "Namespace", "", kNvidia));
  start();
  node_with_nics("gpu1");
  put_in(kNvidia, policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  Value going = world.stored(path);
  going.find("metadata")->set("deletionTimestamp", "2026-11-22T15:00:00Z");
  world.server.put(path, going);
  world.server.erase(policy_of(kNvidia, "rail0"));
  expect_event("PoliciesGone: policies are being deleted with their definition or namespace");
  world.server.erase(path);
  expect_event("AllPoliciesGone: all 1 policies disappeared at once");
  expect_stays("the spec stays", [&] { return world.has_vfs("gpu1", 4); });
}

}  // namespace
}  // namespace railbed::controller
