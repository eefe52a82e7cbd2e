// SPDX-License-Identifier: Apache-2.0
#include "labels/feature_object.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::labels {
namespace {

TEST(FeatureObject, HasWhatTheMasterOfNfdTakes) {
  doc::Value owner = doc::Value::object();
  owner.set("kind", "Node");
  owner.set("name", "gpu1");
  const Result<doc::Value> made =
      feature_object({{"railbed.dev/rails", "8"}}, "gpu1", {.ns = "railbed", .reference = owner});
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(doc::to_json(*made),
            R"({"apiVersion":"nfd.k8s-sigs.io/v1alpha1","kind":"NodeFeature",)"
            R"("metadata":{"name":"railbed-gpu1","namespace":"railbed",)"
            R"("labels":{"app.kubernetes.io/managed-by":"railbed","nfd.node.kubernetes.io/node-name":"gpu1"},)"
            R"("ownerReferences":[{"kind":"Node","name":"gpu1"}]},)"
            R"("spec":{"features":{"attributes":{},"flags":{},"instances":{}},"labels":{"railbed.dev/rails":"8"}}})");
  const Result<doc::Value> unowned = feature_object({}, "gpu1", {.ns = "railbed"});
  ASSERT_TRUE(unowned.has_value());
  EXPECT_EQ(unowned->find("metadata")->find("ownerReferences"), nullptr);
}

TEST(FeatureObject, ANodeWithALongNameHasNone) {
  const std::string name = std::string(60, 'a') + ".example.com";
  const Result<doc::Value> made = feature_object({}, name, {.ns = "railbed"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kInvalid);
  EXPECT_EQ(made.error().message,
            "Node " + name +
                ": its name is too long for a label, and node feature discovery finds a node by a label; write its "
                "labels on the Node itself");
}

TEST(LabelsOfNfd, AreInItsListsOnTheNode) {
  const std::set<std::string> owned = labels_of_nfd(
      {{"nfd.node.kubernetes.io/feature-labels", "cpu-cpuid.ADX, network-sriov.capable,,railbed.dev/rails"},
       {"second.nfd.node.kubernetes.io/feature-labels", "example.com/a"},
       {"evilnfd.node.kubernetes.io/feature-labels", "b"},
       {"nfd.node.kubernetes.io/extended-resources", "c"}});
  EXPECT_EQ(owned, (std::set<std::string>{"feature.node.kubernetes.io/cpu-cpuid.ADX",
                                          "feature.node.kubernetes.io/network-sriov.capable", "railbed.dev/rails",
                                          "example.com/a"}));
}

TEST(NotTakenOver, IsWhatTheNodeLacksOrHasOtherwise) {
  using Labels = std::map<std::string, std::string>;
  EXPECT_EQ(not_taken_over({{"a", "1"}, {"b", "2"}, {"c", "3"}}, {{"a", "1"}, {"b", "9"}, {"d", "4"}}),
            (Labels{{"b", "2"}, {"c", "3"}}));
}

}  // namespace
}  // namespace railbed::labels
