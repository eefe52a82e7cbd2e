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

// Names of devices, hosts and pods are whatever somebody called them.
TEST(Table, ShowsControlCharactersAsEscapesInOneLine) {
  Table table({{"NAME", "name"}, {"T", "t"}});
  table.row({"a\x1b[2J\nb\tc\xc2\x9b", "x"});
  EXPECT_EQ(table.to_text(), "NAME                    T\na\\x1b[2J\\x0ab\\x09c\\x9b  x\n");
  EXPECT_EQ(*table.to_value().as_array()->at(0).find("name"), doc::Value("a\x1b[2J\nb\tc\xc2\x9b"));
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

TEST(DisplayWidth, KnowsTheEdgesOfItsBlocks) {
  struct Edge {
    const char32_t point;
    size_t width;
  };
  const Edge edges[] = {
      {0x02ff, 1},  {0x0300, 0},  {0x036f, 0},  {0x0370, 1},  {0x10ff, 1},  {0x1100, 2},  {0x115f, 2},
      {0x1160, 1},  {0x200a, 1},  {0x200b, 0},  {0x200f, 0},  {0x2010, 1},  {0x20cf, 1},  {0x20d0, 0},
      {0x20ff, 0},  {0x2100, 1},  {0x2e7f, 1},  {0x2e80, 2},  {0xa4cf, 2},  {0xa4d0, 1},  {0xabff, 1},
      {0xac00, 2},  {0xd7a3, 2},  {0xd7a4, 1},  {0xf8ff, 1},  {0xf900, 2},  {0xfaff, 2},  {0xfb00, 1},
      {0xfdff, 1},  {0xfe00, 0},  {0xfe0f, 0},  {0xfe10, 1},  {0xfe2f, 1},  {0xfe30, 2},  {0xfe6f, 2},
      {0xfe70, 1},  {0xfefe, 1},  {0xfeff, 0},  {0xff00, 2},  {0xff60, 2},  {0xff61, 1},  {0x1f2ff, 1},
      {0x1f300, 2}, {0x1faff, 2}, {0x1fb00, 1}, {0x1ffff, 1}, {0x20000, 2}, {0x3fffd, 2}, {0x3fffe, 1}};
  const auto utf8 = [](char32_t point) {
    const auto last = [&](int shift) { return static_cast<char>(0x80 | (point >> shift & 0x3f)); };
    if (point < 0x800) return std::string{static_cast<char>(0xc0 | point >> 6), last(0)};
    if (point < 0x10000) return std::string{static_cast<char>(0xe0 | point >> 12), last(6), last(0)};
    return std::string{static_cast<char>(0xf0 | point >> 18), last(12), last(6), last(0)};
  };
  for (const Edge& edge : edges)
    EXPECT_EQ(display_width(utf8(edge.point)), edge.width) << std::hex << static_cast<uint32_t>(edge.point);
  EXPECT_EQ(display_width("\xf8\x88\x80\x80"), 4u);
  EXPECT_EQ(display_width("\xe6\x97"), 2u) << "the last byte is missing";
  EXPECT_EQ(display_width("\xe6\x97x"), 3u);
  EXPECT_EQ(display_width("\xec\x80"), 2u) << "a column for each byte, whatever their bits would name";
  EXPECT_EQ(display_width("\xf4\x84\x80x"), 4u);
}

TEST(Table, HasAColourForEachPaint) {
  const std::pair<Paint, const char*> paints[] = {{Paint::kGood, "\x1b[32m"},
                                                  {Paint::kWarning, "\x1b[33m"},
                                                  {Paint::kBad, "\x1b[31m"},
                                                  {Paint::kDim, "\x1b[2m"},
                                                  {Paint::kStrong, "\x1b[1m"}};
  for (const auto& [paint, escape] : paints) {
    Table table({Column{"S", "s"}});
    table.row({Cell("x", paint)});
    EXPECT_EQ(table.to_text(Colour::kYes), fmt::format("\x1b[1mS\x1b[0m\n{}x\x1b[0m\n", escape));
  }
  Table table({Column{"S", "s"}});
  table.row({Cell("x", Paint::kNone)});
  EXPECT_EQ(table.to_text(Colour::kYes), "\x1b[1mS\x1b[0m\nx\n");
}

RC_GTEST_PROP(DisplayWidth, EndsOnAnyBytes, (const std::string& bytes)) {
  RC_ASSERT(display_width(bytes) <= bytes.size() * 2);
}

}  // namespace
}  // namespace railbed::report
