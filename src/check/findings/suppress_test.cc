// SPDX-License-Identifier: Apache-2.0
#include "check/findings/suppress.h"

#include <gtest/gtest.h>

#include "doc/text.h"

namespace railbed::check {
namespace {

// The findings RB-A-001 at each "!" of the text that are not suppressed.
std::string left_of(const std::string& name, const std::string& text) {
  const auto source = std::make_shared<doc::Source>(doc::Source{name, text});
  const doc::LineIndex index(source);
  doc::Diagnostics findings;
  for (size_t at = text.find('!'); at != std::string::npos; at = text.find('!', at + 1))
    findings.error("RB-A-001", index.at(at, 1), "x");
  suppress({source}, [](std::string_view id) { return id.starts_with("RB-A-"); }, findings);
  findings.sort();
  std::string out;
  for (const auto& finding : findings.all())
    out += fmt::format("{}:{} {} {}\n", finding.span.line, finding.span.column, finding.id, finding.message);
  return out;
}

TEST(SuppressTest, AComment) {
  struct Case {
    std::string about, name, text, left;
  };
  const Case cases[] = {
      {"behind a line is about that line", "a.yaml", "a: ! # railbed: ignore RB-A-001 because\nb: !\n",
       "2:4 RB-A-001 x\n"},
      {"on its own line is about the next", "a.yaml", "x: 1\n# railbed: ignore RB-A-001 because\na: !\nb: !\n",
       "4:4 RB-A-001 x\n"},
      {"is about what is indented below it", "a.yaml",
       "x: 1\n# railbed: ignore RB-A-001 because\na:\n  b: !\n  c:\n    d: !\ne: !\n", "7:4 RB-A-001 x\n"},
      {"before a document is about all of it", "a.yaml",
       "a: !\n---\n# railbed: ignore RB-A-001 because\n# more words\na: !\nb:\n  c: !\n---\nd: !\n",
       "1:4 RB-A-001 x\n9:4 RB-A-001 x\n"},
      {"in Markdown is about the next block", "a.md",
       "<!-- railbed: ignore RB-A-001 because -->\n\n```yaml\na: !\nb: !\n```\n!\n",
       "1:2 RB-A-001 x\n7:1 RB-A-001 x\n"},
      {"that is not needed is reported", "a.yaml", "a: 1 # railbed: ignore RB-A-001 because\n",
       "1:24 RB-IGNORE-001 RB-A-001 reports nothing here that could be ignored\n"},
      {"without a reason is reported", "a.yaml", "a: ! # railbed: ignore RB-A-001\n",
       "1:24 RB-IGNORE-002 no reason is given\n"},
      {"about no rule is reported", "a.yaml", "a: ! # railbed: ignore RB-B-1 because\n",
       "1:4 RB-A-001 x\n1:24 RB-IGNORE-003 unknown rule RB-B-1\n"},
      {"about another id leaves this one", "a.yaml", "a: ! # railbed: ignore RB-A-002 because\n",
       "1:4 RB-A-001 x\n1:24 RB-IGNORE-001 RB-A-002 reports nothing here that could be ignored\n"},
      {"is only one behind a hash", "a.yaml", "a: \"! railbed: ignore RB-A-001 because\"\n", "1:5 RB-A-001 x\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(left_of(c.name, c.text), c.left) << c.about;
}

}  // namespace
}  // namespace railbed::check
