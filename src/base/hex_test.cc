// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(HexTest, WritesAndReadsAllBytes) {
  Bytes all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<uint8_t>(byte));
  EXPECT_EQ(hex_text(Bytes{0x00, 0x0f, 0xf0, 0xa9}), "000ff0a9");
  EXPECT_EQ(bytes_of_hex(hex_text(all)), all);
  EXPECT_EQ(hex_text({}), "");
  EXPECT_EQ(bytes_of_hex(""), Bytes{});
}

TEST(HexTest, RefusesOtherTexts) {
  for (const char* text : {"0", "000", "0G", "FF", "aB", " 1", "1 ", "0x", "-1", "00:"})
    EXPECT_EQ(bytes_of_hex(text), std::nullopt) << '"' << text << '"';
}

}  // namespace
}  // namespace railbed
