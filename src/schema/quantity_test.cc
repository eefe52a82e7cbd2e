// SPDX-License-Identifier: Apache-2.0
#include "schema/quantity.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace railbed::schema {
namespace {

using doc::Value;

struct WholeRow {
  const char* text;
  std::optional<int64_t> whole;
};

TEST(Quantity, InThousandths) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const WholeRow rows[] = {{"0", 0},      {"2", 2000},      {"1500m", 1500},      {"1.5", 1500},       {"0.57", 570},
                           {"100m", 100}, {"1Ki", 1024000}, {"1u", std::nullopt}, {"x", std::nullopt}, {"9E", kMost}};
  for (const WholeRow& row : rows) EXPECT_EQ(milli_quantity(Value(std::string(row.text))), row.whole) << row.text;
  EXPECT_EQ(milli_quantity(Value(int64_t{3})), 3000);
  EXPECT_EQ(milli_quantity(Value(0.57)), 570);
}

TEST(Quantity, WholeNumbersAsTheApiServerTakesThem) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const WholeRow rows[] = {{"0", 0},
                           {"8", 8},
                           {"+8", 8},
                           {"8.", 8},
                           {"8.0", 8},
                           {"4k", 4000},
                           {"4M", 4'000'000},
                           {"4G", 4'000'000'000},
                           {"4T", 4'000'000'000'000},
                           {"4P", 4'000'000'000'000'000},
                           {"1Ki", 1024},
                           {"2Mi", int64_t{2} << 20},
                           {"32Gi", int64_t{32} << 30},
                           {"2Ti", int64_t{2} << 40},
                           {"2Pi", int64_t{2} << 50},
                           {"5000000u", 5},
                           {"5000000000n", 5},
                           {"0.5Ki", 512},
                           {"1.5k", 1500},
                           {"3000m", 3},
                           {"2e3", 2000},
                           {"2E+3", 2000},
                           {"2500e-2", 25},
                           {"16Ei", kLargest},
                           {"9E", 9'000'000'000'000'000'000},
                           {"10E", kLargest},
                           {"0e-9", 0},
                           {".5k", 500},
                           {"", std::nullopt},
                           {".", std::nullopt},
                           {"-1", std::nullopt},
                           {"0.5", std::nullopt},
                           {"1500m", std::nullopt},
                           {"1n", std::nullopt},
                           {"4K", std::nullopt},
                           {"4 k", std::nullopt},
                           {"1ki", std::nullopt},
                           {"2e", std::nullopt},
                           {"2e3x", std::nullopt},
                           {"2e99999", std::nullopt},
                           {"1.2.3", std::nullopt},
                           {"0x10", std::nullopt},
                           {"99999999999999999999", std::nullopt}};
  for (const WholeRow& row : rows) EXPECT_EQ(whole_quantity(Value(std::string(row.text))), row.whole) << row.text;
}

TEST(Quantity, NumbersOfTheDocument) {
  EXPECT_EQ(whole_quantity(Value(int64_t{3})), 3);
  EXPECT_EQ(whole_quantity(Value(int64_t{-3})), std::nullopt);
  EXPECT_EQ(whole_quantity(Value(2.0)), 2);
  EXPECT_EQ(whole_quantity(Value(2.5)), std::nullopt);
  EXPECT_EQ(whole_quantity(Value(-2.0)), std::nullopt);
  EXPECT_EQ(whole_quantity(Value(1e300)), std::nullopt);
  EXPECT_EQ(whole_quantity(Value(true)), std::nullopt);
  EXPECT_EQ(whole_quantity(Value()), std::nullopt);
}

TEST(Quantity, SizesOfAllSuffixes) {
  const std::pair<const char*, double> rows[] = {
      {"0", 0},        {"8", 8},          {"-2", -2},       {"+2.5", 2.5},   {"500m", 0.5},   {"3u", 3e-6},
      {"4k", 4e3},     {"4M", 4e6},       {"1.5G", 1.5e9},  {"2T", 2e12},    {"1P", 1e15},    {"1E", 1e18},
      {"1Ki", 0x1p10}, {"0.5Mi", 0x1p19}, {"64Gi", 0x1p36}, {"1Ti", 0x1p40}, {"1Pi", 0x1p50}, {"1Ei", 0x1p60},
      {"1e3", 1000},   {"1E+3", 1000},    {"25e-1", 2.5},
  };
  for (const auto& [text, size] : rows) {
    const std::optional<double> read = approximate_quantity(Value(std::string(text)));
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_NEAR(*read, size, std::abs(size) * 1e-12) << text;
    EXPECT_TRUE(is_quantity(Value(std::string(text)))) << text;
  }
  EXPECT_EQ(approximate_quantity(Value(int64_t{3})), 3.0);
  EXPECT_EQ(approximate_quantity(Value(2.5)), 2.5);
}

TEST(Quantity, OtherTextsAreNone) {
  for (const char* text :
       {"", "Gi", "-", ".", "1.2.3", "64 GB", "64gi", "1K", "1e", "1e+", "1e+-3", "1e--3", "0x10", "1,5"}) {
    EXPECT_FALSE(is_quantity(Value(std::string(text)))) << text;
    EXPECT_EQ(whole_quantity(Value(std::string(text))), std::nullopt) << text;
  }
  EXPECT_FALSE(is_quantity(Value(true)));
  EXPECT_FALSE(is_quantity(Value()));
}

}  // namespace
}  // namespace railbed::schema
