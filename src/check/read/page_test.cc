// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "check/read/markdown.h"

namespace railbed::check {
namespace {

// The blocks of a page, a line each: what they are, and their text.
std::string shown(std::string_view page) {
  std::string out;
  for (const Block& block : split_page(page)) {
    out += block.fence ? fmt::format("fence \"{}\" indented by {}, opened by \"{}\"{}", block.info, block.indent,
                                     page.substr(block.opening, 3), block.closed ? "" : ", not closed")
                       : "text";
    out += fmt::format(": {}\n", page.substr(block.begin, block.end - block.begin));
  }
  std::ranges::replace(out, '\n', '|');
  return out;
}

TEST(SplitPage, FindsFencesOfMarkdownAndListingsOfAsciiDocAsFarAsTheyAreIndented) {
  struct Case {
    std::string_view page;
    std::string blocks;
  };
  const Case cases[] = {
      {"a\n```yaml\nb\n```\nc\n", "text: a||fence \"yaml\" indented by 0, opened by \"```\": b||text: c||"},
      {"1. a\n   ~~~\n   b\n   ~~~\n", "text: 1. a||fence \"\" indented by 3, opened by \"~~~\":    b||"},
      {"[source,yaml]\n----\nb\n----\n", "text: [source,yaml]||fence \"yaml\" indented by 0, opened by \"---\": b||"},
      {"  [,yaml]\n  ----\n  b\n  ----\n", "text:   [,yaml]||fence \"yaml\" indented by 2, opened by \"---\":   b||"},
      {"[source]\n----\nb\n-----\nc",
       "text: [source]||fence \"\" indented by 0, opened by \"---\", not closed: b|-----|c|"},
      {"a\n----\nb\n", "text: a|----|b||"},
  };
  for (const Case& one : cases) EXPECT_EQ(shown(one.page), one.blocks) << one.page;
}

}  // namespace
}  // namespace railbed::check
