// SPDX-License-Identifier: Apache-2.0
#include "kube/clock.h"

#include <gtest/gtest.h>

namespace railbed::kube {
namespace {

TEST(Time, IsReadAsItIsWritten) {
  const WallTime noon = *read_time("2026-01-31T12:00:00Z");
  EXPECT_EQ(second_time(noon), "2026-01-31T12:00:00Z");
  EXPECT_EQ(micro_time(noon), "2026-01-31T12:00:00.000000Z");
  EXPECT_EQ(read_time("2026-01-31T12:00:00.999999Z"), noon);
  EXPECT_EQ(read_time("2026-01-31T14:30:00+02:30"), noon);
  EXPECT_EQ(read_time("2026-01-31T07:00:00-05:00"), noon);
  for (const char* wrong :
       {"", "soon", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00:00Z ", "2026-01-31T12:00:00+2"})
    EXPECT_EQ(read_time(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace railbed::kube
