// SPDX-License-Identifier: Apache-2.0
#include "findings/explain.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "findings/pages.h"

namespace railbed::findings {
namespace {

std::ptrdiff_t headings_in(std::string_view text) {
  std::ptrdiff_t count = 0;
  for (size_t at = text.find("\n## RB-"); at != std::string_view::npos; at = text.find("\n## RB-", at + 1)) ++count;
  return count;
}

TEST(Explanations, AreAllSectionsOfAllPages) {
  std::set<std::string_view> names;
  for (const EmbeddedFile& page : pages()) {
    names.insert(page.name);
    EXPECT_EQ(std::ranges::count(explanations(), page.name, &Explanation::page), headings_in(page.text)) << page.name;
  }
  EXPECT_EQ(names.size(), pages().size());
  for (const char* page :
       {"docs/check/addresses.md", "docs/findings/cluster.md", "docs/findings/machine.md", "docs/findings/results.md"})
    EXPECT_TRUE(names.contains(page)) << page;
}

TEST(Explanations, HaveOneIdEach) {
  std::set<std::string_view> ids;
  for (const Explanation& one : explanations()) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id;
    EXPECT_FALSE(one.title.empty()) << one.id;
    EXPECT_EQ(explain(one.id), &one) << one.id;
    if (!one.is_about_text()) {
      EXPECT_GT(one.story.size(), 80U) << one.id;
    }
  }
  EXPECT_EQ(explain("RB-PCIE-999"), nullptr);
  EXPECT_EQ(explain(""), nullptr);
}

TEST(Explanations, ArePartsOfTheirPage) {
  const Explanation* one = explain("RB-PCIE-001");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->title, "A PCIe link below what both ends support");
  EXPECT_EQ(one->page, "docs/findings/machine.md");
  EXPECT_FALSE(one->is_about_text());
  EXPECT_EQ(one->story.find("## "), std::string_view::npos);
  ASSERT_NE(explain("RB-ADDR-001"), nullptr);
  EXPECT_TRUE(explain("RB-ADDR-001")->is_about_text());
}

}  // namespace
}  // namespace railbed::findings
