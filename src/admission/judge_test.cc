// SPDX-License-Identifier: Apache-2.0
// What is refused, what passes, and what is a warning.
#include "admission/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/test_patches.h"
#include "check/case_files.h"

namespace railbed::admission {
namespace {

using doc::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kSriov = "sriovnetwork.openshift.io";
constexpr std::string_view kMistake =
    "spec.nicSelector.deviceID: 101e is the id of VFs; a policy selects PFs, so it matches nothing";
constexpr std::string_view kRefusal =
    "SriovNetworkNodePolicy ops/rail0: spec.nicSelector.deviceID: error: 101e is the id of VFs; a policy selects PFs, so "
    "it matches nothing [RB-RDMA-007]\n  fix: the PF's id: 101d (ConnectX-6 Dx), 101f (ConnectX-6 Lx), 1021 "
    "(ConnectX-7), 1023 (ConnectX-8), 1025 (ConnectX-9), a2d6 (BlueField-2), a2dc (BlueField-3), a2df (BlueField-4)";

Value policy(std::string_view device, int vfs = 8) {
  return json_of(fmt::format(
      R"({{"apiVersion":"sriovnetwork.openshift.io/v1","kind":"SriovNetworkNodePolicy",
      "metadata":{{"name":"rail0","namespace":"ops"}},"spec":{{"resourceName":"rail0","numVfs":{},
      "nodeSelector":{{"a":"b"}},
      "nicSelector":{{"vendor":"15b3","deviceID":"{}"}}}}}})",
      vfs, device));
}

Review review_of(Operation operation, Value object, Value old = {}) {
  return {.uid = "7",
          .operation = operation,
          .group = std::string(kSriov),
          .kind = "SriovNetworkNodePolicy",
          .ns = "ops",
          .name = "rail0",
          .user = "jane",
          .object = std::move(object),
          .old_object = std::move(old)};
}

Answer allowed(std::vector<std::string> warnings = {}) {
  return {.uid = "7", .warnings = std::move(warnings)};
}

struct JudgeCase {
  std::string what;
  Review review;
  Answer expected;
};

std::vector<JudgeCase> judge_cases() {
  const std::string warning = fmt::format("RB-RDMA-007 {}", kMistake);
  std::vector<JudgeCase> cases{
      {"a right object", review_of(Operation::kCreate, policy("101d")), allowed()},
      {"a mistake", review_of(Operation::kCreate, policy("101e")), refusal("7", std::string(kRefusal))},
      {"a mistake that an update brings in", review_of(Operation::kUpdate, policy("101e"), policy("101d")),
       refusal("7", std::string(kRefusal))},
      {"one that is stored already", review_of(Operation::kUpdate, policy("101e", 9), policy("101e")),
       allowed({warning})},
      {"one that goes", review_of(Operation::kUpdate, policy("101d"), policy("101e")), allowed()},
      {"an unchanged spec", review_of(Operation::kUpdate, policy("101e"), policy("101e")), allowed()},
      {"a deletion", review_of(Operation::kDelete, {}, policy("101e")), allowed()},
  };
  cases.push_back({"the status", review_of(Operation::kUpdate, policy("101e"), policy("101d")), allowed()});
  cases.back().review.subresource = "status";
  cases.push_back({"an own account", review_of(Operation::kCreate, policy("101e")), allowed()});
  cases.back().review.user = "system:serviceaccount:railbed:railbed-operator";
  cases.push_back(
      {"a finalizer of an object that goes", review_of(Operation::kUpdate, policy("101e"), policy("101d")), allowed()});
  cases.back().review.object.find("metadata")->set("deletionTimestamp", "2026-01-01T00:00:00Z");
  cases.push_back({"another kind", review_of(Operation::kCreate, policy("101e")), allowed()});
  cases.back().review.group = "";
  cases.back().review.kind = "ConfigMap";
  cases.push_back({"a try", review_of(Operation::kCreate, policy("101e")), refusal("7", std::string(kRefusal))});
  cases.back().review.dry_run = true;
  return cases;
}

TEST(Judge, RefusesOnlyWhatTheRequestBringsIn) {
  World world;
  world.own_accounts = {"system:serviceaccount:railbed:railbed-operator"};
  for (const JudgeCase& one : judge_cases()) {
    const Answer answer = judge(one.review, world);
    EXPECT_EQ(to_json(answer), to_json(one.expected)) << one.what;
    EXPECT_TRUE(answer == one.expected) << one.what;
  }
}

// The stored object itself is no second one.
TEST(Judge, TheStoredVersionIsNotAnotherObject) {
  World world;
  world.stored = {policy("101d")};
  EXPECT_TRUE(judge(review_of(Operation::kUpdate, policy("101d", 4), policy("101d")), world) == allowed());
}

TEST(Judge, HardwareMayComeLater) {
  World world;
  world.nodes = check::testing_cases::facts_named_in("# facts: roce-exclusive");
  Value wanted = policy("101d", 16);
  wanted.find("spec")->set("nodeSelector", json_of(R"({"kubernetes.io/hostname":"roce-exclusive"})"));
  const Answer answer = judge(review_of(Operation::kCreate, wanted), world);
  EXPECT_TRUE(answer.allowed) << answer.message;
  EXPECT_THAT(answer.warnings, ::testing::Contains(StartsWith("RB-VF-002 for now, ")));
}

// Two objects may come in any order, and two replicas may see them in different ones.
TEST(Judge, WhatIsMissingElsewhereRefusesNothing) {
  World world;
  world.stored = {policy("101d")};
  Review review = review_of(Operation::kCreate, json_of(R"({"apiVersion":"sriovnetwork.openshift.io/v1",
      "kind":"SriovNetwork","metadata":{"name":"net","namespace":"ops"},
      "spec":{"resourceName":"rails0","networkNamespace":"ai"}})"));
  review.kind = "SriovNetwork";
  EXPECT_TRUE(judge(review, world).allowed);
}

TEST(Judge, WorkloadsAreOnlyWarned) {
  const Value deployment = json_of(R"({"apiVersion":"apps/v1","kind":"Deployment",
      "metadata":{"name":"w","namespace":"ai"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"},"annotations":{"k8s.v1.cni.cncf.io/networks":"rail0@eth0"}},
      "spec":{"containers":[{"name":"c","image":"x"}]}}}})");
  Review review = review_of(Operation::kCreate, deployment);
  review.group = "apps";
  review.kind = "Deployment";
  const Answer answer = judge(review, {});
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings, ElementsAre(StartsWith("RB-ANN-005 ")));
  // No warning is longer than what kubectl shows.
  EXPECT_LE(answer.warnings.front().size(), kMaxWarningCharacters + 2);
}

TEST(Judge, PodsOfControllersCostNothing) {
  Value pod = json_of(R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"w-","namespace":"ai",
      "annotations":{"k8s.v1.cni.cncf.io/networks":"rail0@eth0"}},"spec":{"containers":[{"name":"c","image":"x"}]}})");
  Review review = review_of(Operation::kCreate, pod);
  review.group = "";
  review.kind = "Pod";
  EXPECT_THAT(judge(review, {}).warnings, ElementsAre(StartsWith("RB-ANN-005 ")));
  pod.find("metadata")->set("ownerReferences", json_of(R"([{"kind":"ReplicaSet","name":"w","controller":true}])"));
  review.object = pod;
  EXPECT_THAT(judge(review, {}).warnings, IsEmpty());
}

Review review_of_definition(std::string_view config) {
  Review review =
      review_of(Operation::kCreate,
                json_of(fmt::format(R"({{"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinition",
      "metadata":{{"name":"rail0","namespace":"ai"}},"spec":{{"config":{}}}}})",
                                    doc::to_json(Value(config)))));
  review.group = "k8s.cni.cncf.io";
  review.kind = "NetworkAttachmentDefinition";
  return review;
}

TEST(Judge, DefinitionsOfOthersAreTheirs) {
  const Answer ours = judge(review_of_definition(R"({"cniVersion":"1.0.0","type":"sriov","vlan":5000})"), {});
  EXPECT_FALSE(ours.allowed);
  EXPECT_THAT(ours.message, HasSubstr("[RB-CNI-005]"));
  EXPECT_THAT(ours.message, StartsWith("NetworkAttachmentDefinition ai/rail0: config.vlan"));
  for (const std::string_view config : {R"({"cniVersion":"1.0.0","type":"ovn-k8s-cni-overlay","vlan":5000})",
                                        R"({"cniVersion":"1.0.0","plugins":[{"type":"calico","vlan":5000}]})"})
    EXPECT_TRUE(judge(review_of_definition(config), {}) == allowed()) << config;
}

TEST(Judge, WhatCannotBeJudgedIsAllowed) {
  for (const std::string_view object : {"{}", R"({"kind":7})", R"({"kind":"List","items":[]})", R"({"metadata":[]})",
                                        R"({"kind":"SriovNetworkNodePolicyList","items":[{}]})"})
    EXPECT_TRUE(judge(review_of(Operation::kCreate, json_of(object)), {}).allowed) << object;
}

}  // namespace
}  // namespace railbed::admission
