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
  for (const Report report = testing_cases::report_of(file, text); const doc::Diagnostic& one : report.findings.all())
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

// Some lines of a manifest are marked as those that are new, or taken out.
TEST(Remarks, LinesThatAreMarkedAsNewAreLines) {
  const auto found = [](const std::string& lines) {
    const std::string text =
        "# Page\n\n```yaml\napiVersion: v1\nkind: Pod\nmetadata:\n  name: worker\nspec:\n  terminationGracePeriodSeconds: 5\n"
        "  automountServiceAccountToken: false\n  enableServiceLinks: false\n" +
        lines + "  containers:\n  - name: main\n    image: registry.example/train:2.1\n```\n";
    std::string out;
    for (const Report report = testing_cases::report_of("a.md", text);
         const doc::Diagnostic& one : report.findings.all())
      out += fmt::format("{}:{} {}\n", one.id, one.span.line, severity_name(one.severity));
    return out;
  };
  EXPECT_EQ(found("+ hostIPC: false\n"), "");
  EXPECT_EQ(found("+ hostIPC: false\n+ hostPID: false\n"), "");
  EXPECT_EQ(found("+ hostIPC: false\n-  hostIPC: true\n"), "");
  EXPECT_EQ(found("+ hostIPC: 3\n"), "RB-API-004:12 error\n");  // what is new is judged
  EXPECT_EQ(found("  hostIPC: 3\n"), "RB-API-004:12 error\n");
}

// A page names several values, or explains one; a file that is applied has one.
TEST(Remarks, ValuesThatAPageExplainsArePlaceholders) {
  for (const char* value : {"4 (or 8)", "9000 (optional)", "1 -> 3", "1 → 3", "8 or 16", "30 (the default)"}) {
    const std::string line = std::string("  terminationGracePeriodSeconds: ") + value;
    EXPECT_EQ(severities_of("a.md", line), "RB-DOC-006 note\n") << line;
    EXPECT_EQ(severities_of("a.yaml", line), "RB-API-004 error\n") << line;
  }
  EXPECT_EQ(severities_of("a.md", "  hostIPC: true/false"), "RB-DOC-006 note\n");
  EXPECT_EQ(severities_of("a.md", "  terminationGracePeriodSeconds: 30s"), "RB-API-004 error\n");
  EXPECT_EQ(severities_of("a.md", "  terminationGracePeriodSeconds: thirty (30)"), "RB-API-004 error\n");
}

// Two files in one block, with the name of the second one between them; without it, they are one text.
TEST(Remarks, ACommentWithTheNameOfAFileEndsTheFileAbove) {
  const auto found = [](const std::string& between) {
    std::string out;
    const std::string text =
        "# Page\n\n```yaml\n# a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ai}\n" + between +
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: ai}\n```\n";
    for (const Report report = testing_cases::report_of("a.md", text);
         const doc::Diagnostic& one : report.findings.all())
      out += one.id + "\n";
    return out;
  };
  EXPECT_EQ(found("# b.yaml\n"), "");
  EXPECT_EQ(found("\n# the second file: maps/b.yml\n\n"), "");
  EXPECT_EQ(found("---\n# b.yaml\n"), "");
  EXPECT_EQ(found("# and another one\n"), "RB-YAML-003\n");
  EXPECT_EQ(found(""), "RB-YAML-003\n");
}

TEST(Remarks, ACommentWithTheNameOfAFileInsideAnObjectEndsNothing) {
  const Report report = testing_cases::report_of(
      "a.md",
      "# Page\n\n```yaml\napiVersion: v1\n# as in a.yaml\nkind: ConfigMap\nmetadata: {name: a, namespace: ai}\n"
      "# from b.yaml\ndata: {a: b}\n```\n");
  EXPECT_TRUE(report.findings.all().empty());
  EXPECT_EQ(report.objects(), 1);
}

// What a terminal showed, with a prompt that no list has, is no manifest: in a page whatever its fence says, and in a
// file of notes. Words without a command are no prompt, and a mistake there.
TEST(Remarks, PromptsThatPeopleDrawAreNoManifest) {
  const std::string object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: ai\ndata:\n  a: b\n";
  const auto errors = [](const std::string& name, const std::string& text) {
    std::string out;
    for (const Report report = testing_cases::report_of(name, text); const doc::Diagnostic& one : report.findings.all())
      if (one.severity == doc::Severity::kError) out += one.id + "\n";
    return out;
  };
  const auto page = [](const std::string& block) { return "# Page\n\n```yaml\n" + block + "```\n"; };
  for (const std::string prompt : {"~ ❯", "»", "⚡", "→", "▶", "~/dev/x (main) $", "🐳", "~/x main*", "└─$", "~ ᐅ",
                                   ":$", "[me@host] (⎈|kind:default)$", "➜  ~ git:(main) ✗"}) {
    EXPECT_EQ(errors("a.md", page(prompt + " cat a.yaml\n" + object)), "") << prompt;
    EXPECT_EQ(errors("a.md", page(object + prompt + " oc get pods\nNAME READY\na    1/1\n")), "") << prompt;
    EXPECT_EQ(errors("a.md", page(prompt + " cat <<EOF | oc apply -f -\n" + object + "EOF\n")), "") << prompt;
    EXPECT_EQ(errors("a.yaml", prompt + " cat b.yaml\n" + object), "") << prompt;
  }
  EXPECT_EQ(errors("a.yaml", "▶ the map\n" + object), "RB-YAML-001\n");
  EXPECT_EQ(errors("a.md", page(object + "  c: d: e\n")), "RB-YAML-001\n");
}

}  // namespace
}  // namespace railbed::check
