// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(TrimmedTest, TakesWhatIsAroundAndNothingInside) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed("[\"a b\"]", "[]\""), "a b");
}

TEST(TrimmedTest, LeavesNothingOfBlanks) {
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\r"), "");
  EXPECT_EQ(trimmed(" \t\r\n"), "");
  EXPECT_EQ(trimmed("---", "-"), "");
}

TEST(LowerTest, ChangesLettersOfAsciiOnly) {
  EXPECT_EQ(lower("Mellanox-15B3_Z@["), "mellanox-15b3_z@[");
  EXPECT_EQ(lower("\xC3\x84"), "\xC3\x84");
  EXPECT_EQ(lower(""), "");
}

TEST(PartsTest, HaveNoBlanksAroundAndAreNotEmpty) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(parts_of("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(parts_of(" a , b c ,", ','), (Parts{"a", "b c"}));
  EXPECT_EQ(parts_of(",, ,", ','), Parts{});
  EXPECT_EQ(parts_of("", ':'), Parts{});
  EXPECT_EQ(parts_of("/opt:/bin", ':'), (Parts{"/opt", "/bin"}));
  EXPECT_EQ(parts_of(" a ;;b=\t", ';', ""), (Parts{" a ", "b=\t"}));
}

TEST(ListedTest, HasTheWordBeforeTheLast) {
  EXPECT_EQ(listed({}, "and"), "");
  EXPECT_EQ(listed({"a"}, "and"), "a");
  EXPECT_EQ(listed({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(listed({"a", "b", "c"}, "and"), "a, b and c");
}

TEST(CountedTest, HasAPluralButForOne) {
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(12, "PF"), "12 PFs");
  EXPECT_EQ(counted(1, "policy", "policies"), "1 policy");
  EXPECT_EQ(counted(2, "policy", "policies"), "2 policies");
}

}  // namespace
}  // namespace railbed
