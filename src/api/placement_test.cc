// SPDX-License-Identifier: Apache-2.0
#include "api/placement.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/format.h"
#include "doc/yaml.h"

namespace railbed::api {
namespace {

doc::Value yaml_of(const std::string& text) {
  doc::Diagnostics problems;
  const auto all = doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{"a.yaml", text}), problems);
  EXPECT_EQ(problems.all().size(), 0U) << text;
  return all.empty() ? doc::Value::object() : all.front();
}

TEST(Taints, AreKeptOffByThoseThatNothingTolerates) {
  const struct {
    const char* what;
    const char* taint;
    const char* tolerations;
    Assigned assigned;
    const char* kept_off_by;  // empty: by none
  } rows[] = {
      {"none", "", "", Assigned::kNo, ""},
      {"no toleration", "{key: a, value: b, effect: NoSchedule}", "", Assigned::kNo, "a=b:NoSchedule"},
      {"the same", "{key: a, value: b, effect: NoSchedule}", "{key: a, value: b, effect: NoSchedule}", Assigned::kNo,
       ""},
      {"Equal by name", "{key: a, value: b, effect: NoSchedule}", "{key: a, operator: Equal, value: b}", Assigned::kNo,
       ""},
      {"another value", "{key: a, value: b, effect: NoSchedule}", "{key: a, value: c}", Assigned::kNo,
       "a=b:NoSchedule"},
      {"any value", "{key: a, value: b, effect: NoSchedule}", "{key: a, operator: Exists}", Assigned::kNo, ""},
      {"everything", "{key: a, effect: NoExecute}", "{operator: Exists}", Assigned::kNo, ""},
      {"another effect", "{key: a, effect: NoExecute}", "{key: a, operator: Exists, effect: NoSchedule}", Assigned::kNo,
       "a:NoExecute"},
      {"an empty value", "{key: a, effect: NoSchedule}", "{key: a, operator: Equal}", Assigned::kNo, ""},
      {"another key", "{key: a, effect: NoSchedule}", "{key: b, operator: Exists}", Assigned::kNo, "a:NoSchedule"},
      {"preferred only", "{key: a, effect: PreferNoSchedule}", "", Assigned::kNo, ""},
      {"by nodeName", "{key: a, effect: NoSchedule}", "", Assigned::kYes, ""},
      {"by nodeName, evicted", "{key: a, effect: NoExecute}", "", Assigned::kYes, "a:NoExecute"},
      {"not ready", "{key: node.kubernetes.io/not-ready, effect: NoExecute}", "", Assigned::kNo, ""},
      {"cordoned", "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}", "", Assigned::kNo, ""},
      {"a control plane", "{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}", "", Assigned::kNo,
       "node-role.kubernetes.io/control-plane:NoSchedule"},
  };
  for (const auto& row : rows) {
    const auto taints = read_taints(yaml_of(fmt::format("taints: [{}]\n", row.taint)));
    const Placement placement = read_placement(yaml_of(fmt::format("tolerations: [{}]\n", row.tolerations)));
    const Taint* taint = kept_off_by(taints, placement.tolerations, row.assigned);
    EXPECT_EQ(taint == nullptr ? "" : to_string(*taint), row.kept_off_by) << row.what;
  }
}

TEST(Taints, TheTolerationToWriteToleratesThem) {
  for (const char* text : {"{key: a, value: b, effect: NoSchedule}", "{key: a, effect: NoExecute}",
                           "{key: x.io/y, value: \"true\", effect: NoSchedule}"}) {
    const auto taints = read_taints(yaml_of(fmt::format("taints: [{}]\n", text)));
    ASSERT_EQ(taints.size(), 1U);
    const Placement placement =
        read_placement(yaml_of(fmt::format("tolerations: [{}]\n", toleration_for(taints.front()))));
    EXPECT_EQ(kept_off_by(taints, placement.tolerations, Assigned::kNo), nullptr) << text;
  }
}

TEST(Affinity, IsRequiredOfTheNode) {
  const std::map<std::string, std::string> labels{{"gpu", "h100"}, {"rails", "8"}};
  const struct {
    const char* terms;
    const char* lack;
  } rows[] = {
      {"", ""},
      {"{matchExpressions: [{key: gpu, operator: In, values: [h100, h200]}]}", ""},
      {"{matchExpressions: [{key: gpu, operator: In, values: [b200]}]}",
       "nodeAffinity wants gpu In [b200], and it is \"h100\" here"},
      {"{matchExpressions: [{key: nic, operator: In, values: [cx7]}]}",
       "nodeAffinity wants nic In [cx7], and the node has no such label"},
      {"{matchExpressions: [{key: nic, operator: NotIn, values: [cx7]}]}", ""},
      {"{matchExpressions: [{key: gpu, operator: NotIn, values: [h100]}]}",
       "nodeAffinity wants gpu NotIn [h100], and it is \"h100\" here"},
      {"{matchExpressions: [{key: gpu, operator: Exists}]}", ""},
      {"{matchExpressions: [{key: gpu, operator: DoesNotExist}]}",
       "nodeAffinity wants gpu DoesNotExist, and it is \"h100\" here"},
      {"{matchExpressions: [{key: rails, operator: Gt, values: [\"7\"]}]}", ""},
      {"{matchExpressions: [{key: rails, operator: Lt, values: [\"8\"]}]}",
       "nodeAffinity wants rails Lt [8], and it is \"8\" here"},
      {"{matchExpressions: [{key: gpu, operator: Gt, values: [\"7\"]}]}",
       "nodeAffinity wants gpu Gt [7], and it is \"h100\" here"},
      {"{matchExpressions: [{key: gpu, operator: Like, values: [x]}]}", ""},  // of a later version
      {"{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}", ""},
      {"{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}",
       "nodeAffinity wants metadata.name In [n2], and it is \"n1\" here"},
      {"{}", "a term of nodeAffinity without conditions fits no node"},
      // One term is enough.
      {"{matchExpressions: [{key: gpu, operator: DoesNotExist}]}, {matchExpressions: [{key: gpu, operator: Exists}]}",
       ""},
  };
  for (const auto& row : rows) {
    const Placement placement = read_placement(yaml_of(fmt::format(
        "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{}]}}}}}}\n",
        row.terms)));
    EXPECT_EQ(affinity_mismatch(placement.affinity, labels, "n1"), row.lack) << row.terms;
  }
}

TEST(Affinity, WhatIsPreferredDoesNotCount) {
  const Placement placement = read_placement(
      yaml_of("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
              "{matchExpressions: [{key: gpu, operator: Exists}]}}]}}\n"));
  EXPECT_EQ(affinity_mismatch(placement.affinity, {}, "n1"), "");
}

TEST(Affinity, OtherTypesAreNothing) {
  for (const char* text : {"affinity: 7\ntolerations: no\n", "affinity: {nodeAffinity: []}\ntolerations: [7, [a]]\n",
                           "tolerations: {key: a}\n"})
    EXPECT_EQ(read_placement(yaml_of(text)), Placement{}) << text;
  EXPECT_TRUE(read_taints(yaml_of("taints: [7]\n")).empty());
}

}  // namespace
}  // namespace railbed::api
