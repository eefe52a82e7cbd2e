// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::report {
namespace {

Table two_nics() {
  Table table({{"PCI", "pci"}, {"NAME", "name"}, {"MTU", "mtu", Align::kRight}, {"GB/S", "gbps", Align::kRight}});
  table.row({"0000:3c:00.0", "größe", 9000, 12.5});
  table.row({"0000:4d:00.0", Cell(), 1500, Cell()});
  return table;
}

TEST(Table, AlignsColumnsByDisplayWidth) {
  EXPECT_EQ(two_nics().to_text(),
            "PCI           NAME    MTU  GB/S\n"
            "0000:3c:00.0  größe  9000  12.5\n"
            "0000:4d:00.0  -      1500     -\n");
}

TEST(Table, LeavesOutColumnsWithoutAnyValueAndBlanksAtLineEnds) {
  Table table({{"A", "a"}, {"EMPTY", "empty"}, {"LONG TITLE", "long"}});
  table.row({"x", "", "y"});
  EXPECT_EQ(table.to_text(Colour::kNo, 2), "  A  LONG TITLE\n  x  y\n");
}

TEST(Table, PaintsOnlyForATerminal) {
  Table table({{"S", "s"}, {"T", "t"}});
  table.row({Cell("DOWN", Paint::kBad), "x"});
  EXPECT_EQ(table.to_text(), "S     T\nDOWN  x\n");
  EXPECT_EQ(table.to_text(Colour::kYes), "\x1b[1mS\x1b[0m     \x1b[1mT\x1b[0m\n\x1b[31mDOWN\x1b[0m  x\n");
}

TEST(Table, GivesJsonByKeysWithoutAbsentValues) {
  doc::Value value = two_nics().to_value();
  ASSERT_EQ(value.as_array()->size(), 2U);
  const doc::Value& second = value.as_array()->at(1);
  EXPECT_EQ(*second.find("mtu"), doc::Value(1500));
  EXPECT_EQ(second.find("name"), nullptr);
  EXPECT_EQ(*value.as_array()->at(0).find("gbps"), doc::Value(12.5));
}

TEST(DisplayWidth, CountsWhatATerminalShows) {
  EXPECT_EQ(display_width("µs ≤ 5"), 6U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);  // e and a combining accent
  EXPECT_EQ(display_width("a\xff\xc3"), 3U);  // broken UTF-8
}

RC_GTEST_PROP(DisplayWidth, EndsOnAnyBytes, (const std::string& bytes)) {
  RC_ASSERT(display_width(bytes) <= bytes.size() * 2);
}

}  // namespace
}  // namespace railbed::report
