// SPDX-License-Identifier: Apache-2.0
#include "doc/text.h"

#include <gtest/gtest.h>

namespace railbed::doc {
namespace {

TEST(Utf8, EveryLengthIsWrittenAndRead) {
  struct Case {
    uint32_t point;
    std::string bytes;
  };
  const Case cases[] = {{0x7f, "\x7f"},
                        {0x80, "\xC2\x80"},
                        {0x7ff, "\xDF\xBF"},
                        {0x800, "\xE0\xA0\x80"},
                        {0xffff, "\xEF\xBF\xBF"},
                        {0x10000, "\xF0\x90\x80\x80"},
                        {0x10ffff, "\xF4\x8F\xBF\xBF"}};
  for (const Case& c : cases) {
    std::string out;
    append_utf8(out, c.point);
    EXPECT_EQ(out, c.bytes);
    EXPECT_FALSE(first_invalid_utf8(out)) << std::hex << c.point;
  }
}

TEST(Utf8, WhatIsNoneIsFoundAndReplaced) {
  struct Case {
    std::string bytes;
    size_t at;
    std::string readable;
  };
  const std::string mark = "\xEF\xBF\xBD";
  const Case cases[] = {{"a\xff"
                         "b",
                         1, "a" + mark + "b"},
                        {"\x80", 0, mark},
                        {"ab\xC3", 2, "ab" + mark},
                        {"\xC0\x80", 0, mark + mark},  // too long for its value
                        {"\xC1\xBF", 0, mark + mark},
                        {"\xE0\x9F\xBF", 0, mark + mark + mark},
                        {"\xED\xA0\x80", 0, mark + mark + mark},  // half of a pair
                        {"\xF0\x8F\xBF\xBF", 0, mark + mark + mark + mark},
                        {"\xF4\x90\x80\x80", 0, mark + mark + mark + mark},
                        {"\xE2\x82", 0, mark + mark},
                        {"\xE2\x82x", 0, mark + mark + "x"}};
  for (const Case& c : cases) {
    EXPECT_EQ(first_invalid_utf8(c.bytes), c.at) << testing::PrintToString(c.bytes);
    EXPECT_EQ(as_utf8(c.bytes), c.readable) << testing::PrintToString(c.bytes);
  }
  for (const char* good : {"", "abc", "\xED\x9F\xBF", "\xEE\x80\x80", "\xE0\xA0\x80", "\xF0\x90\x80\x80"}) {
    EXPECT_FALSE(first_invalid_utf8(good));
    EXPECT_EQ(as_utf8(good), good);
  }
}

TEST(Printable, ShowsControlCharactersAsEscapes) {
  EXPECT_EQ(printable("a\tb\x1f"
                      "c\x7f"
                      "d\x20"),
            "a\tb\\x1fc\\x7fd ");
  EXPECT_EQ(printable("\xC2\x80\xC2\x9f\xC2\xa0"), "\\x80\\x9f\xC2\xa0");
  EXPECT_EQ(printable("x\xC2"), "x\xEF\xBF\xBD");
  EXPECT_EQ(printable("\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(LineText, IsALineWithoutItsEnd) {
  EXPECT_EQ(line_text("a\r\nb\n\nc", 1), "a");
  EXPECT_EQ(line_text("a\r\nb\n\nc", 2), "b");
  EXPECT_EQ(line_text("a\r\nb\n\nc", 3), "");
  EXPECT_EQ(line_text("a\r\nb\n\nc", 4), "c");
  EXPECT_EQ(line_text("a\r\nb\n\nc", 5), "");
}

TEST(LineIndex, CutsAPlaceAtTheEndOfItsLine) {
  const auto source = std::make_shared<const Source>(Source{"a", "one\r\ntwo\n"});
  const LineIndex index(source);
  struct Case {
    size_t offset, length;
    int line, column, cut;
  };
  for (const Case& c : {Case{0, 3, 1, 1, 3}, Case{0, 99, 1, 1, 3}, Case{2, 5, 1, 3, 1}, Case{3, 1, 1, 4, 0},
                        Case{5, 2, 2, 1, 2}, Case{8, 1, 2, 4, 0}, Case{9, 1, 3, 1, 0}, Case{99, 1, 3, 1, 0}}) {
    const Span span = index.at(c.offset, c.length);
    EXPECT_EQ(span.line, c.line) << c.offset;
    EXPECT_EQ(span.column, c.column) << c.offset;
    EXPECT_EQ(span.length, c.cut) << c.offset;
    EXPECT_EQ(span.offset, std::min<size_t>(c.offset, 9)) << c.offset;
  }
}

TEST(KeyIndex, FindsKeysInSmallAndLargeObjects) {
  for (const size_t size : {15u, 16u, 17u, 40u}) {
    Value::Object object;
    KeyIndex keys;
    for (size_t i = 0; i < size; ++i) {
      EXPECT_FALSE(keys.find(object, fmt::format("k{}", i)));
      object.push_back({fmt::format("k{}", i), {}, Value()});
    }
    for (size_t i = 0; i < size; ++i) EXPECT_EQ(keys.find(object, fmt::format("k{}", i)), i);
    EXPECT_FALSE(keys.find(object, "k"));
  }
}

}  // namespace
}  // namespace railbed::doc
