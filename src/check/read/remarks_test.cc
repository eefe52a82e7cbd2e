// SPDX-License-Identifier: Apache-2.0
#include "check/read/remarks.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check/case_files.h"

namespace railbed::check {
namespace {

std::string without_remark(std::string_view line) {
  return std::string(line.substr(0, remark_begin(line)));
}

TEST(Remarks, StandBehindTheValue) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"  port: 80    <==== exposed port", "  port: 80   "},
      {"  port: 80 <- here", "  port: 80"},
      {"  port: 80 <--", "  port: 80"},
      {"spec:   <--- what it wants", "spec:  "},
      {"  mtu: 9000 ← the rail's", "  mtu: 9000"},
      {"  mtu: 9000  ⟵ here", "  mtu: 9000 "},
      {"  mtu: 9000 👈", "  mtu: 9000"},
      {"  mtu: 9000  --> as the switch", "  mtu: 9000 "},
      {"  mtu: 9000  ==> as the switch", "  mtu: 9000 "},
      {"  replicas: 2 // one for each rail", "  replicas: 2"},
      {"  - NET_ADMIN  <<< wanted", "  - NET_ADMIN "},
      {"  numVfs: 8 ①", "  numVfs: 8"},
      {"  numVfs: 8  ❶ ❷", "  numVfs: 8 "},
      {"  numVfs: 8  (1)", "  numVfs: 8 "},
      {"  name: \"a b\"  <-- the name", "  name: \"a b\" "},
  };
  for (const auto& [line, wanted] : cases) EXPECT_EQ(without_remark(line), wanted) << line;
}

TEST(Remarks, AreNoPartsOfValues) {
  const std::vector<std::string_view> lines = {
      "  port: 80",
      "  url: http://registry.example//a",
      "  url: registry.example // ",
      "  text: a --> b",
      "  text: a <b> c",
      "  - a <= 3",
      "  key: \"80 <- here\"",
      "  key: 'a // b'",
      "  key: 80  # <- a comment",
      "# port: 80 <- here",
      "  \"mtu\": 9000, // in JSON",
      "  text: step (1) of two",
      "  text: from ① to ② and on",
      "just words <- here",
      "",
      "   ",
  };
  for (const std::string_view line : lines) EXPECT_EQ(without_remark(line), line);
}

std::string severities_of(const std::string& file, const std::string& line) {
  std::string text = "apiVersion: v1\nkind: Pod\nmetadata: {name: worker, namespace: train}\nspec:\n" + line +
                     "\n  containers:\n  - name: main\n    image: registry.example/train:2.1\n";
  if (file.ends_with(".md")) text = "# Page\n\n```yaml\n" + text + "```\n";
  std::string found;
  for (const doc::Diagnostic& one : testing_cases::report_of(file, text).findings.all())
    found += one.id + " " + std::string(severity_name(one.severity)) + "\n";
  return found;
}

// In a page it is for the reader; in a file it is a part of the value.
TEST(Remarks, AreReadInPagesOnly) {
  for (const char* remark : {"<==== seconds", "<- here", "← seconds", "// seconds", "①", "👈 here"}) {
    const std::string line = std::string("  terminationGracePeriodSeconds: 30  ") + remark;
    EXPECT_EQ(severities_of("a.md", line), "") << line;
    EXPECT_EQ(severities_of("a.yaml", line), "RB-API-004 error\n") << line;
  }
  EXPECT_EQ(severities_of("a.md", "  terminationGracePeriodSeconds: 30 seconds"), "RB-API-004 error\n");
  EXPECT_EQ(severities_of("a.md", "  terminationGracePeriodSeconds: thirty  <- wrong"), "RB-API-004 error\n");
  EXPECT_EQ(severities_of("a.md", "  terminationGracePeriodSeconds: 30\n  ^^^ seconds"), "");
}

}  // namespace
}  // namespace railbed::check
