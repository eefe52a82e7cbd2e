// SPDX-License-Identifier: Apache-2.0
#include "base/eswitch_mode.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(EswitchModeTest, NamesAreReadAsTheyAreWritten) {
  EXPECT_EQ(eswitch_mode_name(EswitchMode::kLegacy), "legacy");
  EXPECT_EQ(eswitch_mode_name(EswitchMode::kSwitchdev), "switchdev");
  EXPECT_EQ(eswitch_mode_name(std::optional<EswitchMode>()), "");
  EXPECT_EQ(parse_eswitch_mode("legacy"), EswitchMode::kLegacy);
  EXPECT_EQ(parse_eswitch_mode("switchdev"), EswitchMode::kSwitchdev);
  for (const char* name : {"", "Legacy", "switchdev_inactive"}) EXPECT_EQ(parse_eswitch_mode(name), std::nullopt);
}

}  // namespace
}  // namespace railbed
