// SPDX-License-Identifier: Apache-2.0
// The table of refusals, and the forms that its rows name. Whole findings are in testdata/check/RB-ADM-013 and 014.
#include "check/rules/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/case_files.h"
#include "check/data_files.h"
#include "check/rules/lookups.h"
#include "check/rules/value_forms.h"

namespace railbed::check {
namespace {

// What is wrong with a row: no place, an unknown form, two validators.
std::string problem_of_row(const doc::Value& row) {
  static constexpr std::string_view kValidators[] = {"form",    "keys",  "text",  "devices", "at_most",
                                                     "exactly", "never", "equal", "any_of"};
  size_t validators = 0;
  for (const std::string_view key : kValidators) validators += row.find(key) != nullptr ? 1 : 0;
  if (validators != 1) return fmt::format("{} validators", validators);
  if (text_at(row, "of").empty()) return "no `of`";
  for (const std::string_view key : {"form", "keys"})
    if (row.find(key) != nullptr && find_form(text_at(row, key)) == nullptr)
      return fmt::format("no form {}", text_at(row, key));
  if (row.find("never") != nullptr && text_at(row, "says").empty()) return "`never` without `says`";
  if (row.find("equal") != nullptr && texts_at(row, "equal").size() != 2) return "`equal` of two fields";
  return "";
}

TEST(Refusals, EachRowOfTheTableIsWhole) {
  const doc::Value data = data_document("refusals.yaml");
  const doc::Value::Array* rows = doc::list_in(data, "rows");
  ASSERT_NE(rows, nullptr);
  for (const doc::Value& row : *rows) EXPECT_EQ(problem_of_row(row), "") << row.span.to_string();
}

struct FormCase {
  std::string_view form;
  std::vector<std::string> right;
  std::vector<std::string> wrong;
};

TEST(Refusals, FormsTakeWhatIsRight) {
  const FormCase cases[] = {
      {"dns-label", {"a", "main-1", "1a"}, {"", "A", "a_b", "-a", "a.b"}},
      {"image",
       {"nginx", "nginx:1.25", "a/b/c:V1", "localhost:5000/a", "Registry.example/a__b", "a@sha256:AB", ""},
       {"Nginx", "a/B", "reg.io/a/B:1", "nginx:", "a//b", "docker://nginx", "a b", "nginx:1:2"}},
      {"inner-path", {"a", "a/b", "a..b", ""}, {"/a", "..", "a/../b"}},
      {"config-key", {"a.json", "A_1-2", ".a"}, {"", "..", "..a", "a b", "a/b"}},
      {"cluster-ip", {"", "None", "10.0.0.1", "fd00::1"}, {"none", "10.0.0.300", "10.0.0.0/24"}},
      {"cron",
       {"* * * * *", "*/5 0-6,22 1 jan Mon-Fri", "@daily", "@every 5m", "TZ=UTC 0 0 * * *", " 0  0 ? * 6 "},
       {"* * * *", "* * * * * *", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 7", "@dayly", "",
        "*/0 * * * *"}},
      {"count-or-percent", {"0", "1", "25%"}, {"", "%", "-1", "1O%", "25 %", "half"}},
      {"interface", {"br0", "abcdefghijklmno"}, {"abcdefghijklmnop", "a/b", "a b"}},
      {"node-port", {"0", "30000", "32767", "70000"}, {"80", "29999", "32768"}},
      {"mtu", {"0", "68", "9000", "${MTU}"}, {"1", "67", "-1"}},
      {"pytorch-replica", {"Master", "worker"}, {"Workers", ""}},
      {"mpi-replica", {"Launcher", "worker"}, {"Master"}},
  };
  for (const FormCase& one : cases) {
    const ValueForm* form = find_form(one.form);
    ASSERT_NE(form, nullptr) << one.form;
    for (const std::string& text : one.right) EXPECT_TRUE(form->fits(text)) << one.form << ": " << text;
    for (const std::string& text : one.wrong) EXPECT_FALSE(form->fits(text)) << one.form << ": " << text;
  }
  EXPECT_EQ(find_form("no-form"), nullptr);
}

// The ids of what is found in one file.
std::vector<std::string> ids_in(const std::string& name, const std::string& text) {
  std::vector<std::string> ids;
  for (const Report report = testing_cases::report_of(name, text); const doc::Diagnostic& one : report.findings.all())
    ids.push_back(one.id);
  return ids;
}

std::string plain_pod_with(const std::string& container, const std::string& rest = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec:\n" + rest +
         "  containers:\n    - name: main\n      image: registry.example/a:1\n" + container;
}

TEST(Refusals, WhatStandsForAnotherTextIsNotJudged) {
  for (const std::string image : {"quay.io/OWNER/app:1", "IMAGE_NAME", "${IMAGE}", "<registry>/App", "REPO/app:TAG"}) {
    const std::string text =
        plain_pod_with("").replace(plain_pod_with("").find("registry.example/a:1"), 20, "\"" + image + "\"");
    EXPECT_THAT(ids_in("a.yaml", text), testing::Not(testing::Contains("RB-ADM-013"))) << image;
  }
}

TEST(Refusals, WhatAnApiServerTakesIsNotFound) {
  const std::string right[] = {
      plain_pod_with("", "  volumes: [{name: data}]\n"),  // an emptyDir
      plain_pod_with("      securityContext: {capabilities: {add: [SYS_ADMIN]}, allowPrivilegeEscalation: false}\n"),
      plain_pod_with("      ports: [{containerPort: 80, hostPort: 8080}]\n"),
      plain_pod_with("      ports: [{containerPort: 80, hostPort: 0}]\n", "  hostNetwork: true\n"),
      plain_pod_with("      env: [{name: A, value: \"\", valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n"),
  };
  for (const std::string& text : right) {
    EXPECT_THAT(ids_in("a.yaml", text), testing::Not(testing::Contains("RB-ADM-013"))) << text;
    EXPECT_THAT(ids_in("a.yaml", text), testing::Not(testing::Contains("RB-ADM-014"))) << text;
  }
}

TEST(Refusals, WhatDoesNotGoTogetherIsFound) {
  const std::string wrong[] = {
      plain_pod_with(
          "      securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}, allowPrivilegeEscalation: false}\n"),
      plain_pod_with("      ports: [{containerPort: 80, hostPort: 8080}]\n", "  hostNetwork: true\n"),
      plain_pod_with("      env: [{name: A, valueFrom: {}}]\n"),
      plain_pod_with("      livenessProbe: {}\n"),
  };
  for (const std::string& text : wrong) EXPECT_THAT(ids_in("a.yaml", text), testing::Contains("RB-ADM-014")) << text;
}

}  // namespace
}  // namespace railbed::check
