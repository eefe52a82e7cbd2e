// SPDX-License-Identifier: Apache-2.0
#include "doc/edits.h"

#include <gtest/gtest.h>

#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed::doc {
namespace {

SourcePtr source_to_edit(std::string text) {
  return std::make_shared<Source>(Source{"a.yaml", std::move(text)});
}

TEST(EditsTest, PlacesAreReportedInTheTextBefore) {
  const SourcePtr before = source_to_edit("one: 1\ntwo: 2\nthree: 3\n");
  const LineIndex index(before);
  const EditedText edited(before, {{before, 7, 3, "zwei", {}}, {before, 0, 0, "  ", {}}});
  EXPECT_EQ(edited.after()->text, "  one: 1\nzwei: 2\nthree: 3\n");
  EXPECT_EQ(edited.applied(), 2u);
  const LineIndex after(edited.after());
  EXPECT_EQ(edited.back(after.at(2, 3)).to_string(), "a.yaml:1:1");   // "one"
  EXPECT_EQ(edited.back(after.at(9, 4)).to_string(), "a.yaml:2:1");   // "zwei"
  EXPECT_EQ(edited.back(after.at(15, 1)).to_string(), "a.yaml:2:6");  // "2"
  EXPECT_EQ(edited.back(after.at(17, 5)).to_string(), "a.yaml:3:1");  // "three"
  EXPECT_EQ(edited.back(index.at(7, 3)).to_string(), "a.yaml:2:1");   // a place in another text stays as it is
}

TEST(EditsTest, MovedTextIsReportedWhereItWas) {
  const SourcePtr before = source_to_edit("a:\n  b: 1\n  c: 2\n");
  const EditedText edited(before, {{before, 3, 7, "", {}}, {before, 17, 0, "b: 1\n", 5}});
  EXPECT_EQ(edited.after()->text, "a:\n  c: 2\nb: 1\n");
  EXPECT_EQ(edited.back(LineIndex(edited.after()).at(13, 1)).to_string(), "a.yaml:2:6");
}

TEST(EditsTest, OverlappingEditsAreLeftOut) {
  const SourcePtr before = source_to_edit("abcdef");
  const EditedText edited(before, {{before, 0, 3, "x", {}}, {before, 2, 2, "y", {}}});
  EXPECT_EQ(edited.after()->text, "xdef");
  EXPECT_EQ(edited.applied(), 1u);
}

// Lines that are moved to their own beginning, and a move whose target was removed by another one.
TEST(EditsTest, AGroupIsAppliedWholeOrNotAtAll) {
  const SourcePtr before = source_to_edit("a:\n  b: 1\nc: 2\n");
  const EditedText::Group in_place = {{before, 10, 5, "", {}}, {before, 10, 0, "  c: 2\n", 10}};
  const EditedText::Group into_it = {{before, 0, 3, "", {}}, {before, 12, 0, "x", {}}};
  const EditedText::Group groups[] = {in_place, into_it};
  const EditedText edited(before, groups);
  EXPECT_EQ(edited.after()->text, "a:\n  b: 1\n  c: 2\n");
  EXPECT_TRUE(edited.took(0));
  EXPECT_FALSE(edited.took(1));
}

TEST(EditsTest, WrongIndentationIsRepaired) {
  const SourcePtr before = source_to_edit("spec:\n  numVfs: 8\n nicSelector:\n   vendor: a\n  mtu: 9\n");
  Diagnostics found;
  parse_yaml(before, found);
  ASSERT_EQ(found.all().size(), 1u);
  const EditedText edited(before, found.all()[0].edits);
  EXPECT_EQ(edited.after()->text, "spec:\n  numVfs: 8\n  nicSelector:\n   vendor: a\n  mtu: 9\n");
  Diagnostics again;
  EXPECT_EQ(parse_yaml(edited.after(), again).size(), 1u);
  EXPECT_FALSE(again.has_errors());
}

TEST(EditsTest, WhatBelongsToALineMovesWithIt) {
  const SourcePtr before = source_to_edit("spec:\n    numVfs: 8\n  nicSelector:\n    vendor: a\n");
  Diagnostics found;
  parse_yaml(before, found);
  ASSERT_EQ(found.all().size(), 1u);
  EXPECT_EQ(EditedText(before, found.all()[0].edits).after()->text,
            "spec:\n    numVfs: 8\n    nicSelector:\n      vendor: a\n");
}

TEST(EditsTest, DifferencesAreShownAsDiffDoes) {
  EXPECT_EQ(unified_diff("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff("a", "x\n", "x\n"), "");
  EXPECT_EQ(unified_diff("a", "x", "y\n"), "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n");
  EXPECT_EQ(unified_diff("a", "1\n2\n", "2\n1\n"), "--- a\n+++ a\n@@ -1,2 +1,2 @@\n+2\n 1\n-2\n");
}

}  // namespace
}  // namespace railbed::doc
