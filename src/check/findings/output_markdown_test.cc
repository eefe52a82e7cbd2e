// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "check/data_files.h"
#include "check/findings/output.h"
#include "check/rules/lookups.h"
#include "findings/explain.h"

namespace railbed::check {
namespace {

TEST(MistakesTest, EveryIdIsOneThatCheckReports) {
  const doc::Value all = data_document("mistakes.yaml");
  ASSERT_NE(all.find("mistakes"), nullptr);
  EXPECT_EQ(all.find("mistakes")->as_array()->size(), 66u);
  for (const doc::Value& mistake : *all.find("mistakes")->as_array())
    for (const Word& id : texts_at(mistake, "ids"))
      EXPECT_NE(findings::explain(id.text), nullptr) << text_at(mistake, "says") << ": " << id.text;
}

TEST(MistakesTest, AreReportedWithTheirPlaces) {
  const auto source = std::make_shared<doc::Source>(
      doc::Source{"a|b.md", "```yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {container: []}\n```\n"});
  const std::string text = to_mistakes(check({source}, {}, {}));
  EXPECT_NE(text.find("| 3 | `container:` in a pod | a\\|b.md:5 | RB-API-006 |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 66 known mistakes."), std::string::npos) << text;
}

}  // namespace
}  // namespace railbed::check
