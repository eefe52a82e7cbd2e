// SPDX-License-Identifier: Apache-2.0
// Which errors of a file are those of a template: a variable of a shell beside an error is not its cause.
#include "check/read/templates.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "check/case_files.h"

namespace railbed::check {
namespace {

bool has_yaml_error(const std::string& text) {
  const Report report = testing_cases::report_of("a.yaml", text);
  return std::ranges::any_of(report.findings.all(), [](const doc::Diagnostic& one) {
    return one.severity == doc::Severity::kError && one.id.starts_with("RB-YAML");
  });
}

std::string pod_with_script(const std::string& image, const std::string& line) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec:\n  containers:\n  - name: main\n"
         "    image: " +
         image + "\n    command:\n    - sh\n    - -c\n    - |\n      " + line + "\n      echo \"done\"\n";
}

TEST(Templates, AVariableOfAShellIsNotTheCauseOfAnError) {
  for (const std::string line : {R"(run.sh \${@};)", R"(export A="${B}" C="${D}")", R"(run --x \${X} "${Y}")"}) {
    EXPECT_FALSE(has_yaml_error(pod_with_script("registry.example/a:1", line))) << line;
    EXPECT_TRUE(has_yaml_error(pod_with_script("\"registry.example/a:1", line))) << line;
  }
}

TEST(Templates, AVariableThatBreaksTheFileIsTheCause) {
  EXPECT_FALSE(has_yaml_error("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {a: ${B}}\n"));
}

}  // namespace
}  // namespace railbed::check
