// SPDX-License-Identifier: Apache-2.0
#include "facts/natural_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::facts {
namespace {

TEST(NaturalOrder, CountsNumbersInsideNames) {
  std::vector<std::string> names = {"mlx5_10", "mlx5_bond_0", "ib0",     "mlx5_2", "mlx5_1", "mlx5_02",
                                    "",        "ibp188s0",    "ibp60s0", "rxe0"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names, (std::vector<std::string>{"", "ib0", "ibp60s0", "ibp188s0", "mlx5_1", "mlx5_02", "mlx5_2", "mlx5_10",
                                             "mlx5_bond_0", "rxe0"}));
}

TEST(NaturalOrder, NumbersMayHaveAnyLength) {
  EXPECT_TRUE(natural_less("a99999999999999999999999999998", "a99999999999999999999999999999"));
  EXPECT_FALSE(natural_less("a100000000000000000000000000000", "a99999999999999999999999999999"));
}

RC_GTEST_PROP(NaturalOrder, IsAStrictTotalOrder, ()) {
  auto text = rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123ab_")));
  std::string a = *text;
  std::string b = *text;
  std::string c = *text;
  RC_ASSERT(!natural_less(a, a));
  RC_ASSERT(natural_less(a, b) + natural_less(b, a) + (a == b) == 1);
  if (natural_less(a, b) && natural_less(b, c)) RC_ASSERT(natural_less(a, c));
}

}  // namespace
}  // namespace railbed::facts
