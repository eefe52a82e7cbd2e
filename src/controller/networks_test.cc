// SPDX-License-Identifier: Apache-2.0
#include "controller/networks.h"

#include <gtest/gtest.h>

#include "api/load.h"
#include "controller/test_cluster.h"
#include "doc/members.h"

namespace railbed::controller {
namespace {

using namespace testing;

struct NetworksTest : ::testing::Test {
  kube::Objects networks, ib_networks, definitions;
  std::set<std::string> namespaces{"op", "llm", "team"};
  KindDefinition kind{.uid = "k1", .created = "2026-11-20T10:00:00Z"};
  KindDefinition ib_kind{.uid = "k2", .created = "2026-11-20T10:00:00Z"};
  bool lists_networks = true, lists_ib_networks = true;
  std::set<std::string> operator_namespaces{"op"};

  Value& add(const std::string& ns, const std::string& name, const std::string& spec, const std::string& uid = "u1") {
    Value made = object("sriovnetwork.openshift.io/v1", "SriovNetwork", ns, name);
    Value& meta = *made.find("metadata");
    meta.set("uid", uid);
    meta.set("resourceVersion", "3");
    made.set("spec", json(spec));
    auto kept = std::make_shared<Value>(std::move(made));
    networks[{ns, name}] = kept;
    return *kept;
  }
  void define(const std::string& ns, const std::string& name, const std::string& uid_label, const std::string& owner,
              const std::string& kind_uid = "k1") {
    Value made = object("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", ns, name);
    Value& meta = *made.find("metadata");
    meta.set("uid", "nad-" + name);
    meta.set("resourceVersion", "9");
    if (!uid_label.empty()) meta.set("labels", Value::object()).set(kNetworkUidLabel, uid_label);
    Value& annotations = meta.set("annotations", Value::object());
    if (!owner.empty()) annotations.set(api::kOwnerAnnotation, owner);
    if (!uid_label.empty()) annotations.set(kNetworkKindUid, kind_uid);
    definitions[{ns, name}] = std::make_shared<const Value>(std::move(made));
  }
  NetworksPlan plan() {
    return plan_networks({.networks = lists_networks ? &networks : nullptr,
                          .ib_networks = lists_ib_networks ? &ib_networks : nullptr,
                          .definitions = definitions,
                          .namespaces = namespaces,
                          .operator_namespaces = operator_namespaces,
                          .resource_prefix = "openshift.io",
                          .kind = kind,
                          .ib_kind = ib_kind});
  }
  std::string readiness() {
    const NetworksPlan made = plan();
    std::string out;
    for (const NetworkOutcome& one : made.outcomes)
      out += fmt::format("{} {} {}", one.readiness.status, one.readiness.reason, one.readiness.message);
    return out;
  }
};

TEST_F(NetworksTest, SayWhatBecameOfThem) {
  add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})");
  EXPECT_EQ(readiness(), "True NetworkReady ");
  EXPECT_EQ(plan().applies.size(), 1u);
  const Value status = network_status(plan().outcomes.front(), "2026-11-22T15:00:00Z");
  EXPECT_EQ(doc::to_json(status),
            R"({"conditions":[{"lastTransitionTime":"2026-11-22T15:00:00Z","message":"","observedGeneration":0,)"
            R"("reason":"NetworkReady","status":"True","type":"Ready"}]})");
  add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})").set("status", status);
  EXPECT_TRUE(network_status(plan().outcomes.front(), "2026-11-22T16:00:00Z").is_null());
  namespaces.erase("llm");
  EXPECT_EQ(readiness(), "False NamespaceNotFound namespace llm not found");
}

// Document D's: in the namespace of the operator that it was written for.
TEST_F(NetworksTest, OfANamespaceThatIsServedMayNameAnyOther) {
  operator_namespaces = {"nvidia-network-operator", "op"};
  add("nvidia-network-operator", "gpu-sriov-network", R"({"resourceName": "rail0", "networkNamespace": "llm"})");
  EXPECT_EQ(readiness(), "True NetworkReady ");
  EXPECT_EQ(kube::key_of(plan().applies.at(0)), (kube::ObjectKey{"llm", "gpu-sriov-network"}));
  networks.clear();
  add("team", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})");
  EXPECT_EQ(readiness(),
            "False NamespaceForbidden networkNamespace llm is for networks in namespaces nvidia-network-operator, op "
            "only");
}

// A user who may create networks in one namespace must not write into another.
TEST_F(NetworksTest, OfOtherNamespacesStayThere) {
  add("team", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})");
  EXPECT_EQ(readiness(), "False NamespaceForbidden networkNamespace llm is for networks in namespace op only");
  EXPECT_TRUE(plan().applies.empty());
  for (const char* own : {R"({"resourceName": "rail0", "networkNamespace": "team"})", R"({"resourceName": "rail0"})"}) {
    add("team", "rail0", own);
    EXPECT_EQ(kube::key_of(plan().applies.at(0)), (kube::ObjectKey{"team", "rail0"}));
  }
}

TEST_F(NetworksTest, ThatCannotBeReadKeepTheirDefinition) {
  define("llm", "rail0", "u1", "");
  define("llm", "old", "gone", "");
  add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm", "ipam": "{"})");
  EXPECT_EQ(
      readiness(),
      "False NetworkAttachmentDefinitionInvalid expected a key in double quotes, found the end of the text (line 1, "
      "column 2 of the embedded text)");
  const NetworksPlan made = plan();
  EXPECT_TRUE(made.applies.empty());
  ASSERT_EQ(made.deletions.size(), 1u);
  EXPECT_EQ(made.deletions.front().name, "old");
}

TEST_F(NetworksTest, ThatAreBeingDeletedLoseTheirDefinitionAndTheFinalizer) {
  Value& meta = *add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})").find("metadata");
  meta.set("finalizers", doc::texts({"other/one", std::string(kUpstreamFinalizer)}));
  ASSERT_EQ(plan().finalizers.size(), 1u);
  EXPECT_EQ(doc::to_json(plan().finalizers.front().patch),
            R"({"metadata":{"finalizers":["other/one"],"resourceVersion":"3"}})");
  meta.set("deletionTimestamp", "2026-11-22T15:00:00Z");
  define("llm", "ours", "u1", "");
  define("llm", "theirs", "", "SriovNetwork.sriovnetwork.openshift.io/op/rail0");
  define("llm", "anothers", "", "SriovNetwork.sriovnetwork.openshift.io/op/rail1");
  const NetworksPlan made = plan();
  EXPECT_TRUE(made.applies.empty());
  EXPECT_TRUE(made.outcomes.empty());
  std::set<std::string> gone;
  for (const auto& one : made.deletions) gone.insert(one.name);
  EXPECT_EQ(gone, (std::set<std::string>{"ours", "theirs"}));
}

TEST_F(NetworksTest, ThatWentWithTheirKindKeepTheirDefinition) {
  define("llm", "rail0", "u1", "SriovNetwork.sriovnetwork.openshift.io/op/rail0");
  EXPECT_EQ(plan().deletions.size(), 1u) << "deleted while its kind stayed";
  for (const char* uid : {"k3", ""}) {  // installed again; gone, or no one may look
    kind.uid = uid;
    const NetworksPlan made = plan();
    EXPECT_TRUE(made.deletions.empty());
    ASSERT_EQ(made.kept.size(), 1u);
    EXPECT_EQ(
        why_kept(*made.kept.front()),
        "its network SriovNetwork op/rail0 no longer exists, possibly because the CustomResourceDefinition of its kind "
        "was deleted; re-create the network, or delete this definition");
  }
}

// The kind was installed again, and the cache has not heard yet that the former one's networks are gone.
TEST_F(NetworksTest, OlderThanTheirKindAreNotTakenForItsOwn) {
  const auto kind_uid_of_applied = [&] {
    const Value applied = plan().applies.at(0);
    return doc::text_in(*doc::object_in(*doc::object_in(applied, "metadata"), "annotations"), kNetworkKindUid);
  };
  Value& network = add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})");
  network.find("metadata")->set("creationTimestamp", "2026-11-20T09:59:59Z");
  EXPECT_EQ(kind_uid_of_applied(), "");
  network.find("metadata")->set("creationTimestamp", "2026-11-20T10:00:00Z");
  EXPECT_EQ(kind_uid_of_applied(), "k1");
}

// A kind that the cluster lacks, or whose list is forbidden: of its networks nothing is known, and those of the other
// kind are decided as ever.
TEST_F(NetworksTest, OfAKindThatIsNotListedKeepTheirDefinition) {
  const auto names = [](const auto& all) {
    std::set<std::string> out;
    for (const auto& one : all) out.insert(one.name);
    return out;
  };
  const auto kept = [this] {
    std::set<std::string> out;
    for (const kube::ObjectPtr& one : plan().kept) out.insert(kube::key_of(*one).name);
    return out;
  };
  using Names = std::set<std::string>;
  define("llm", "rail0", "u1", "SriovNetwork.sriovnetwork.openshift.io/op/rail0");
  define("llm", "ib0", "u2", "SriovIBNetwork.sriovnetwork.openshift.io/op/ib0", "k2");
  define("llm", "unclear", "u3", "");
  define("llm", "former", "u4", "SriovNetwork.sriovnetwork.openshift.io/op/former", "k0");
  EXPECT_EQ(names(plan().deletions), (Names{"rail0", "ib0", "unclear"}));
  EXPECT_EQ(kept(), Names{"former"});
  for (const char* uid : {"k2", ""}) {
    ib_kind.uid = uid;
    lists_ib_networks = false;
    EXPECT_EQ(names(plan().deletions), Names{"rail0"});
    EXPECT_EQ(kept(), Names{"former"});
    lists_networks = false;
    EXPECT_TRUE(plan().deletions.empty());
    EXPECT_TRUE(kept().empty()) << "nothing is reported of what is not known";
    lists_networks = true;
    lists_ib_networks = true;
  }
  lists_networks = false;
  ib_kind.uid = "k2";
  EXPECT_EQ(names(plan().deletions), Names{"ib0"});
}

// What is in the place of a definition is not known: its network may be of the other kind.
TEST_F(NetworksTest, TakeNoDefinitionOfAKindThatIsNotListed) {
  define("llm", "rail0", "u2", "SriovIBNetwork.sriovnetwork.openshift.io/op/rail0", "k2");
  add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})");
  lists_ib_networks = false;
  EXPECT_EQ(readiness().substr(0, 15), "False NameTaken");
  EXPECT_TRUE(plan().applies.empty());
  EXPECT_TRUE(plan().deletions.empty());
}

// What the SR-IOV operator made of networks that are being deleted, which a kind that goes brings about as well.
TEST_F(NetworksTest, ThatAreDeletedWithTheirKindChangeNothing) {
  Value& meta = *add("op", "rail0", R"({"resourceName": "rail0", "networkNamespace": "llm"})").find("metadata");
  meta.set("finalizers", doc::texts({std::string(kUpstreamFinalizer)}));
  meta.set("deletionTimestamp", "2026-11-22T15:00:00Z");
  define("llm", "theirs", "", "SriovNetwork.sriovnetwork.openshift.io/op/rail0");
  ib_kind.uid.clear();
  EXPECT_TRUE(plan().deletions.empty());
  EXPECT_TRUE(plan().finalizers.empty());
}

}  // namespace
}  // namespace railbed::controller
