// SPDX-License-Identifier: Apache-2.0
// SARIF as code scanning takes it: each case of testdata/check against a compact schema (testdata/sarif), and what a
// schema cannot say.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "json_schema.h"
#include "run_verb.h"

namespace railbed {
namespace {

namespace fs = std::filesystem;

using doc::Value;
using testing::IsEmpty;

const Value& only_run(const Value& log) {
  return log.find("runs")->as_array()->front();
}

std::string text_in(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value == nullptr || value->as_string() == nullptr ? "" : *value->as_string();
}

const Value::Array& list(const Value& object, const char* key) {
  static const Value::Array kNone;
  const Value* value = object.find(key);
  return value == nullptr || value->as_array() == nullptr ? kNone : *value->as_array();
}

const Value& place_of(const Value& result) {
  return *list(result, "locations").front().find("physicalLocation");
}

std::string uri_of(const Value& result) {
  return text_in(*place_of(result).find("artifactLocation"), "uri");
}

// What code scanning checks beside the schema.
void expect_fit(const Value& log, const std::string& about) {
  const std::string schema = content(testdata() / "sarif/sarif-2.1.0.json");
  EXPECT_THAT(JsonSchema(parsed(schema)).problems(log), IsEmpty()) << about;
  const Value& run = only_run(log);
  const Value::Array& rules = list(*run.find("tool")->find("driver"), "rules");
  std::set<std::string> ids;
  for (const Value& rule : rules) EXPECT_TRUE(ids.insert(text_in(rule, "id")).second) << about;
  std::set<std::string> prints;
  for (const Value& result : list(run, "results")) {
    const auto index = static_cast<size_t>(*result.find("ruleIndex")->as_int());
    ASSERT_LT(index, rules.size()) << about;
    EXPECT_EQ(text_in(rules[index], "id"), text_in(result, "ruleId")) << about;
    EXPECT_TRUE(result.find("suppressions") != nullptr ||
                prints.insert(text_in(*result.find("partialFingerprints"), "railbed/v1")).second)
        << about;
    const std::string uri = uri_of(result);
    EXPECT_EQ(place_of(result).find("artifactLocation")->find("uriBaseId") != nullptr, !uri.starts_with("file:"))
        << uri;
  }
}

class SarifFiles : public testing::Test {
 protected:
  SarifFiles() {
    std::string name = testing::TempDir() + "railbed-sarif-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SarifFiles() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Value sarif_of(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"check", "-o", "sarif"});
    auto ran = os::real_processes()->run({.program = RAILBED_PROGRAM,
                                          .arguments = arguments,
                                          .environment = {"PATH=/usr/bin:/bin"},
                                          .input = input,
                                          .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30),
                                          .most_output = 64 << 20});
    EXPECT_TRUE(ran) << testing::PrintToString(arguments);
    return ran ? parsed(ran->output) : Value();
  }

  fs::path folder_;
};

constexpr const char* kPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {container: []}\n";

TEST_F(SarifFiles, OfEachCaseFits) {
  size_t results = 0;
  for (const auto& folder : fs::directory_iterator(testdata() / "check")) {
    if (!folder.is_directory()) continue;
    std::vector<std::string> arguments = {"--each", "--notes"};
    for (const auto& file : fs::directory_iterator(folder.path()))
      if (file.path().extension() != ".expected" && file.path().extension() != ".fixed")
        arguments.push_back(file.path().string());
    const Value log = sarif_of(arguments);
    ASSERT_NE(log.find("runs"), nullptr) << folder.path();
    expect_fit(log, folder.path().string());
    results += list(only_run(log), "results").size();
  }
  EXPECT_GT(results, 300u);
}

TEST_F(SarifFiles, UrisAreEncodedAndBelowTheRoot) {
  const Value log = sarif_of({write("sp ace/ö#%:.yaml", kPod)});
  expect_fit(log, "a name with odd characters");
  const Value& result = list(only_run(log), "results").front();
  EXPECT_THAT(uri_of(result), testing::EndsWith("/sp%20ace/%C3%B6%23%25%3A.yaml"));
  EXPECT_THAT(text_in(*only_run(log).find("originalUriBaseIds")->find("SRCROOT"), "uri"),
              testing::StartsWith("file:///"));
}

TEST_F(SarifFiles, StandardInputAndRenderedTextHavePlacesToo) {
  const Value piped = sarif_of({"-"}, kPod);
  expect_fit(piped, "standard input");
  EXPECT_EQ(uri_of(list(only_run(piped), "results").front()), "stdin");
  write("chart/Chart.yaml", "apiVersion: v2\nname: a\n");
  write("bin/helm", std::string("#!/bin/sh\necho '") + kPod + "'\n");
  fs::permissions(folder_ / "bin/helm", fs::perms::owner_all);
  auto ran = os::real_processes()->run({.program = RAILBED_PROGRAM,
                                        .arguments = {"check", "-o", "sarif", "--render", (folder_ / "chart").string()},
                                        .environment = {"PATH=" + (folder_ / "bin").string()},
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
  ASSERT_TRUE(ran);
  const Value rendered = parsed(ran->output);
  expect_fit(rendered, "rendered");
  ASSERT_FALSE(list(only_run(rendered), "results").empty()) << ran->errors;
  const Value& result = list(only_run(rendered), "results").front();
  EXPECT_THAT(uri_of(result), testing::EndsWith("chart/Chart.yaml"));
  EXPECT_EQ(*place_of(result).find("region")->find("startLine"), Value(1));
  EXPECT_EQ(text_in(list(list(result, "locations").front(), "logicalLocations").front(), "fullyQualifiedName"),
            "Pod a: spec.containers");
}

TEST_F(SarifFiles, WhatIsIgnoredIsSuppressedAndNotesAreLeftOut) {
  const std::string file = write("a.yaml", std::string(kPod) +
                                               "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n"
                                               "spec: {container: []} # railbed: ignore RB-API-006 it is a test\n");
  const Value log = sarif_of({file});
  expect_fit(log, "ignored");
  int suppressed = 0;
  for (const Value& result : list(only_run(log), "results")) {
    EXPECT_NE(text_in(result, "level"), "note");
    for (const Value& one : list(result, "suppressions")) {
      ++suppressed;
      EXPECT_EQ(text_in(one, "kind"), "inSource");
      EXPECT_EQ(text_in(one, "justification"), "it is a test");
    }
  }
  EXPECT_EQ(suppressed, 1);
}

TEST_F(SarifFiles, WhatIsNotReadIsANotification) {
  write("a.yaml", kPod);
  write("chart/templates/b.yaml", "{{- if .Values.a }}\nkind: [\n{{- end }}\n");
  const Value log = sarif_of({"--notes", folder_.string()});
  expect_fit(log, "not read");
  for (const Value& result : list(only_run(log), "results")) EXPECT_NE(text_in(result, "ruleId"), "RB-DOC-005");
  const Value& invocation = list(only_run(log), "invocations").front();
  EXPECT_FALSE(list(invocation, "toolExecutionNotifications").empty());
  EXPECT_EQ(*invocation.find("exitCode"), Value(2));
}

TEST_F(SarifFiles, HasAtMostFiveThousandResultsAndTheErrorsAmongThem) {
  std::string many;
  for (int pod = 0; pod < 8; ++pod) {
    many += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a" + std::to_string(pod) +
            "}\nspec:\n  containers:\n  - name: c\n";
    for (int i = 0; i < 900; ++i) many += "    unknown" + std::to_string(i) + ": 1\n";
  }
  const Value log = sarif_of({write("a.yaml", many), write("b.yaml", kPod)});
  ASSERT_NE(log.find("runs"), nullptr);
  expect_fit(log, "many");
  EXPECT_EQ(list(only_run(log), "results").size(), 5000u);
  EXPECT_EQ(text_in(list(only_run(log), "results").front(), "level"), "error");
  EXPECT_THAT(doc::to_json(list(only_run(log), "invocations").front()), testing::HasSubstr("findings are left out"));
}

}  // namespace
}  // namespace railbed
