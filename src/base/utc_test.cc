// SPDX-License-Identifier: Apache-2.0
#include "base/utc.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(Utc, HasMilliseconds) {
  using std::chrono::milliseconds;
  const auto at = [](int64_t since_epoch_ms) {
    return utc_text(std::chrono::system_clock::time_point(milliseconds(since_epoch_ms)));
  };
  EXPECT_EQ(at(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(at(1'772'360'430'040), "2026-03-01T10:20:30.040Z");
  EXPECT_EQ(at(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace railbed
