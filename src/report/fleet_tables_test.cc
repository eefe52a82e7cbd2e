// SPDX-License-Identifier: Apache-2.0
#include "report/fleet_tables.h"

#include <gtest/gtest.h>

namespace railbed::report {
namespace {

using facts::FleetGroup;

TEST(FleetText, HasATableAndALinePerDifference) {
  const std::vector<FleetGroup> groups = {
      {.gpu = "", .nodes = {"storage"}, .rails = {}, .differences = {}},
      {.gpu = "H100",
       .nodes = {"a", "b\x1b[31m\n"},
       .rails = {{.number = 0, .nodes = 2, .card = "ConnectX-7", .firmware = "differs", .rate = "400G"},
                 {.number = 2, .nodes = 1, .card = "ConnectX-7", .rate = "400G"}},
       .differences = {{.rails = {0, 1, 3},
                        .what = "firmware",
                        .values = {{.value = "1", .nodes = {"a"}}, {.value = "2\n", .nodes = {"b\x1b[31m\n"}}}},
                       {.rails = {}, .what = "number of GPUs", .values = {{.value = "8", .nodes = {"a"}}}}}}};
  EXPECT_EQ(fleet_text(groups, Colour::kNo),
            "1 node without GPUs: storage\n\nNo port of them is a rail.\n"
            "\n2 nodes with H100: a, b\\x1b[31m\\x0a\n\n"
            "RAIL  NODES  CARD        FIRMWARE  RATE\n"
            "   0      2  ConnectX-7  differs   400G\n"
            "   2      1  ConnectX-7  -         400G\n"
            "\nDiffers:\n"
            "  - rails 0-1, 3: firmware: 1 on a, 2\\x0a on b\\x1b[31m\\x0a\n"
            "  - number of GPUs: 8 on a\n");
}

TEST(FleetText, OfManyNodesHasNoNames) {
  FleetGroup group{.gpu = "H100", .nodes = std::vector<std::string>(9, "n")};
  EXPECT_EQ(fleet_text({group}, Colour::kNo), "9 nodes with H100\n\nNo port of them is a rail.\n");
}

}  // namespace
}  // namespace railbed::report
