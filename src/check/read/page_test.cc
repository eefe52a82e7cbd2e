// SPDX-License-Identifier: Apache-2.0
#include "check/read/page.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace railbed::check {
namespace {

// The blocks of a page, a line each: what they are, and their text.
std::string shown(std::string_view page, PageLanguage language) {
  std::string out;
  for (const Block& block : split_page(page, language)) {
    out += block.fence ? fmt::format("code \"{}\" indented by {}{}", block.info, block.indent,
                                     block.closed ? "" : ", not closed")
                       : "text";
    out += fmt::format(": {}\n", page.substr(block.begin, block.end - block.begin));
  }
  std::ranges::replace(out, '\n', '|');
  return out;
}

struct PageCase {
  std::string_view page;
  std::string blocks;
};

TEST(SplitPage, FindsFencesOfMarkdownAsFarAsTheyAreIndented) {
  const PageCase cases[] = {
      {"a\n```yaml\nb\n```\nc\n", "text: a||code \"yaml\" indented by 0: b||text: c||"},
      {"1. a\n   ~~~\n   b\n   ~~~\n", "text: 1. a||code \"\" indented by 3:    b||"},
      {"```{code-block} yaml\nb\n```\n", "code \"yaml\" indented by 0: b||"},
      {"````md\n```yaml\nb\n```\n````\n", "code \"md\" indented by 0: ```yaml|b|```||"},
      {"```sh\nb\n", "code \"sh\" indented by 0, not closed: b||"},
      // Rows of marks below a line are headings of other languages.
      {"Policy\n~~~~~~\nb\n", "text: Policy|~~~~~~|b||"},
      {"Policy\n------\n\n[source,yaml]\n----\nb\n----\n", "text: Policy|------||[source,yaml]|----|b|----||"},
  };
  for (const PageCase& one : cases) EXPECT_EQ(shown(one.page, PageLanguage::kMarkdown), one.blocks) << one.page;
}

TEST(SplitPage, FindsDirectivesOfReStructuredText) {
  const PageCase cases[] = {
      {"Policy\n~~~~~~\n\n.. code-block:: yaml\n\n   b\n\n     c\n\nd\n",
       "text: Policy|~~~~~~|||code \"yaml\" indented by 3: |   b||     c||text: |d||"},
      {".. code-block:: yaml\n   :caption: x\n   :linenos:\n\n   b: 1\n", "code \"yaml\" indented by 3: |   b: 1||"},
      {".. tabs::\n\n   .. tab:: One\n\n      .. sourcecode:: yaml\n\n         b\n\n   .. tab:: Two\n",
       "text: .. tabs::||   .. tab:: One|||code \"yaml\" indented by 9: |         b||text: |   .. tab:: Two||"},
      {"See::\n\n  b\n  c\n\nd\n", "code \"\" indented by 2: |  b|  c||text: |d||"},
      {".. parsed-literal::\n\n   b: |x|\n", "code \"\" indented by 3: |   b: |x|||"},
      {".. note::\n   Not code.\n", "text: .. note::|   Not code.||"},
      {".. code-block:: yaml\n\nNothing below.\n", "text: .. code-block:: yaml||Nothing below.||"},
      {"```yaml\nb\n```\n", "text: ```yaml|b|```||"},
  };
  for (const PageCase& one : cases) EXPECT_EQ(shown(one.page, PageLanguage::kRst), one.blocks) << one.page;
}

TEST(SplitPage, FindsDelimitedBlocksOfAsciiDoc) {
  const PageCase cases[] = {
      {"[source,yaml]\n----\nb\n----\n", "text: [source,yaml]||code \"yaml\" indented by 0: b||"},
      {"[source%nowrap,yaml,subs=\"attributes+\"]\n.Title\n----\nb\n----\n",
       "text: [source%nowrap,yaml,subs=\"attributes+\"]|.Title||code \"yaml\" indented by 0: b||"},
      {"  [,yaml]\n  ----\n  b\n  ----\n", "text:   [,yaml]||code \"yaml\" indented by 2:   b||"},
      {"[source]\n----\nb\n-----\nc", "text: [source]||code \"\" indented by 0, not closed: b|-----|c|"},
      {".A listing\n----\nb\n----\n", "text: .A listing||code \"\" indented by 0: b||"},
      {"....\nb\n....\n", "code \"\" indented by 0: b||"},
      {"```yaml\nb\n```\n", "code \"yaml\" indented by 0: b||"},
      {"[source,yaml]\nb: 1\nc: 2\n\nd\n", "text: [source,yaml]||code \"yaml\" indented by 0: b: 1|c: 2||text: d||"},
      {"////\n[source]\n----\n////\nb\n", "code \"////\" indented by 0: [source]|----||text: b||"},
      // Headings of the older style.
      {"Policies\n--------\nb\n", "text: Policies|--------|b||"},
      {"Policies\n~~~~~~~~\nb\n\nNext\n^^^^\n", "text: Policies|~~~~~~~~|b||Next|^^^^||"},
      {"Steps\n+++++\nb\n", "text: Steps|+++++|b||"},
  };
  for (const PageCase& one : cases) EXPECT_EQ(shown(one.page, PageLanguage::kAsciiDoc), one.blocks) << one.page;
}

}  // namespace
}  // namespace railbed::check
