// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_set.h"

#include <gtest/gtest.h>

#include "controller/test_cluster.h"

namespace railbed::controller {
namespace {

// Whatever else is written, its status above all, is no reason to look at its nodes again.
TEST(PolicySet, APolicyAsksTheSameWhileItsSpecAndAnnotationsAreTheSame) {
  const doc::Value before = testing::policy("rail0", R"("numVfs": 4)");
  EXPECT_TRUE(asks_the_same(before, before));

  doc::Value written = before;
  written.set("status", doc::Value::object()).set("summary", "1 of 1");
  written.find("metadata")->set("resourceVersion", "2");
  EXPECT_TRUE(asks_the_same(before, written));

  EXPECT_FALSE(asks_the_same(before, testing::policy("rail0", R"("numVfs": 5)")));

  doc::Value annotated = before;
  annotated.find("metadata")->set("annotations", doc::Value::object()).set("railbed.dev/allow-host-pf", "true");
  EXPECT_FALSE(asks_the_same(before, annotated));
  EXPECT_FALSE(asks_the_same(annotated, before));
  EXPECT_TRUE(asks_the_same(annotated, annotated));
}

TEST(PolicySet, HasThePoliciesOfNamespacesThatAreServed) {
  kube::Objects stored;
  for (const char* ns : {"op", "nvidia-network-operator", "team"}) {
    doc::Value one = testing::policy("rail0", R"("numVfs": 4, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {})");
    one.find("metadata")->set("namespace", ns);
    stored[kube::key_of(one)] = std::make_shared<const doc::Value>(one);
  }
  const auto keys_of = [](const PolicySet& set) {
    std::string out;
    for (const graph::Policy& one : set.catalog().policies) out += one.key + " ";
    return out;
  };
  const std::vector<std::string> listed{"nvidia-network-operator"};
  const PolicySet alone(stored, {}, 0, policy_namespaces("op", listed, {}));
  EXPECT_NE(keys_of(alone).find("nvidia-network-operator/rail0"), std::string::npos);
  EXPECT_NE(keys_of(alone).find("op/rail0"), std::string::npos);
  EXPECT_EQ(alone.catalog().policies.size(), 2u);
  EXPECT_TRUE(alone.taken().empty());
  const PolicySet beside(stored, {}, 0, policy_namespaces("op", listed, {"nvidia-network-operator"}));
  EXPECT_EQ(keys_of(beside), "op/rail0 ");
  ASSERT_EQ(beside.taken().size(), 1u);
  EXPECT_EQ(beside.taken().front().key, "nvidia-network-operator/rail0");
  stored.erase({"op", "rail0"});
  EXPECT_TRUE(PolicySet(stored, {}, 0, policy_namespaces("op", {}, {})).empty()) << "a copy elsewhere is no policy";
}

}  // namespace
}  // namespace railbed::controller
