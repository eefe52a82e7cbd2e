// SPDX-License-Identifier: Apache-2.0
// Input that is large or made to be slow: an answer or a clear refusal, and not after minutes. (A hang shows
// as the suite's time-out; times are measured in bench/.)
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "check/check.h"
#include "check/findings/output.h"

namespace railbed::check {
namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Of a text whose every part is treated alike: under a sanitizer fewer parts.
std::string many(std::string_view text, size_t times) {
  return repeated(text, times / kSweepStep);
}

Report report_of_hostile(const std::string& name, std::string text) {
  return check({std::make_shared<doc::Source>(doc::Source{name, std::move(text)})}, {}, {});
}

TEST(HostileTest, AFileThatIsTooLargeIsRefused) {
  const Report report = report_of_hostile("a.yaml", std::string(kMaxCheckedBytes + 1, 'x'));
  EXPECT_EQ(to_text(report).substr(0, 136),
            "a.yaml: error: 16 MiB are too large for a manifest; it is not read (limits: 16 MiB for a file, 64 MiB in "
            "total) [RB-DOC-003]\n"
            "  fix: give");
}

TEST(HostileTest, EveryOneIsAnswered) {
  const std::pair<std::string, std::string> inputs[] = {
      {"deep.yaml", "a: " + repeated("[", 10000) + repeated("]", 10000)},
      {"deep.json", "{\"kind\":" + repeated("[", 10000) + repeated("]", 10000) + "}"},
      {"long-line.yaml", "a: \"" + std::string(4 << 20, 'x') + "\"\nb: [\n"},
      {"twice.yaml", many("a: 1\n", 50000)},
      {"ignored.yaml", many("# railbed: ignore RB-YAML-003 so\na: 1\n", 20000)},
      {"fences.md", many("```yaml\n", 50000)},
      {"commands.md", "```sh\n" + many("$ ib_write_bw -d mlx5_0 -a\n", 20000)},
      {"prose.txt", many("apiVersion: v1 kind: Pod metadata: name: a ", 5000)},
      {"typos.yaml", many("kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec:\n  contaners: []\n---\n", 2000)},
      {"nul.yaml", repeated(std::string("a: \0\n", 5), 1000)},
      {"crlf.yaml", repeated("kind: Pod\r\napiVersion: v1\r\n---\r\n", 1000)},
      {"utf8.yaml", repeated("a: \xff\xfe\n", 1000)},
      {"empty.yaml", ""},
      {"separators.yaml", many("---\n", 50000)},
  };
  for (const auto& [name, text] : inputs) {
    const Report report = report_of_hostile(name, text);
    EXPECT_LE(report.findings.all().size(), kMaxFindings) << name;
    EXPECT_LT(to_text(report).size(), size_t{64} << 20) << name;
    for (const auto& finding : report.findings.all()) EXPECT_FALSE(finding.id.empty()) << name;
  }
}

// An object that expands a bomb of aliases is refused.
TEST(HostileTest, ABombOfAliasesIsRefused) {
  std::string bomb = "kind: Pod\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  const Report report = report_of_hostile("bomb.yaml", bomb);
  ASSERT_FALSE(report.findings.all().empty());
  EXPECT_EQ(report.findings.all()[0].id, "RB-YAML-008");
}

}  // namespace
}  // namespace railbed::check
