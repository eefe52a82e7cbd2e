// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace railbed::api {
namespace {

using doc::Value;

struct Row {
  const char* text;
  std::optional<int64_t> whole;
};

TEST(Quantity, WholeNumbersAsTheApiServerTakesThem) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Row rows[] = {{"0", 0},
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
                      {"16Ei", kMost},
                      {"9E", 9'000'000'000'000'000'000},
                      {"10E", kMost},
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
  for (const Row& row : rows) EXPECT_EQ(whole_quantity(Value(std::string(row.text))), row.whole) << row.text;
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

}  // namespace
}  // namespace railbed::api
