// SPDX-License-Identifier: Apache-2.0
#include "check/read/sections.h"

#include <gtest/gtest.h>

#include "doc/text.h"

namespace railbed::check {
namespace {

// The first words of the lines at which sections begin.
std::vector<std::string> sections_of(const std::string& name, const std::string& text) {
  std::vector<std::string> out;
  for (const size_t at : section_begins(name, text)) out.push_back(text.substr(at, text.find('\n', at) - at));
  return out;
}
using Begins = std::vector<std::string>;

TEST(SectionsTest, BeginAtHeadingsOfThePagesLanguage) {
  struct Row {
    const char* name;
    const char* text;
    Begins begins;
  };
  const Row rows[] = {
      {"a.md", "# A\n\ntext\n\n## B\n```bash\n# a comment\n```\n", {"# A", "## B"}},
      {"a.md", "Title\n=====\n\nPart\n----\ntext\n", {"=====", "----"}},
      {"a.md", "#hashtag\n\n####### seven\n\n---\n", {}},
      {"a.md", "# ibping -S\n\n# ibping -c 3\n", {}},
      {"a.rst", "Part\n~~~~\n\ntext # no heading\n", {"~~~~"}},
      {"a.adoc", "= A\n\n== B\ntext = no heading\n", {"= A", "== B"}},
      {"run.sh", "#!/bin/sh\n# Server\na\n# Client\nb\n", {}},
      {"output", "", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(sections_of(row.name, row.text), row.begins) << row.text;
}

TEST(SectionsTest, BeginWhereAnotherWayIsShown) {
  EXPECT_EQ(sections_of("a.md", "a\n\nAlternatively, b\n\nOr:\n"), (Begins{"Alternatively, b", "Or:"}));
  EXPECT_EQ(sections_of("a.md", "by its name\nor its address\n\nOrder them\n"), Begins{}) << "inside of a sentence";
  EXPECT_EQ(sections_of("a.md", "```sh\na\n# or\nb\n```\n"), Begins{"# or"});
  EXPECT_EQ(sections_of("run.sh", "a\n# instead of it\nb\n"), Begins{"# instead of it"});
}

TEST(SectionsTest, PlacesOfOneSection) {
  const auto source = std::make_shared<const doc::Source>(doc::Source{"a.md", "# A\none\ntwo\n# B\nthree\n"});
  const auto other = std::make_shared<const doc::Source>(doc::Source{"b.md", source->text});
  const auto at = [](const doc::SourcePtr& text, std::string_view word) {
    return doc::LineIndex(text).at(text->text.find(word), word.size());
  };
  Sections sections;
  EXPECT_TRUE(sections.same(at(source, "one"), at(source, "two")));
  EXPECT_FALSE(sections.same(at(source, "two"), at(source, "three")));
  EXPECT_FALSE(sections.same(at(source, "three"), at(source, "one")));
  EXPECT_FALSE(sections.same(at(source, "one"), at(other, "two")));
}

}  // namespace
}  // namespace railbed::check
