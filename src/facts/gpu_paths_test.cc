// SPDX-License-Identifier: Apache-2.0
#include "facts/gpu_paths.h"

#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

PciDevice device(std::string_view address, std::vector<std::string_view> bridges, std::optional<int> numa = 0) {
  PciDevice result{.address = *PciAddress::parse(address), .numa_node = numa};
  for (std::string_view bridge : bridges) result.bridges.push_back(*PciAddress::parse(bridge));
  return result;
}

TEST(PathKind, NamesWhatIsBetween) {
  // Root port, a switch (08 upstream, 09/0d below), and below 09 a second switch (0a upstream).
  PciDevice gpu = device("0f:00.0", {"07:01.0", "08:00.0", "09:00.0"});
  PciDevice same_switch = device("0c:00.0", {"07:01.0", "08:00.0", "09:01.0"});
  PciDevice lower_switch = device("14:00.0", {"07:01.0", "08:00.0", "09:02.0", "10:00.0", "11:00.0"});
  PciDevice beside_lower = device("15:00.0", {"07:01.0", "08:00.0", "09:03.0", "12:00.0", "13:00.0"});
  PciDevice same_root = device("20:00.0", {"07:02.0"});
  PciDevice on_root_bus = device("07:05.0", {});
  PciDevice other_root = device("31:00.0", {"30:01.0"});
  PciDevice other_node = device("c1:00.0", {"c0:01.0"}, 1);
  PciDevice no_node = device("d1:00.0", {"d0:01.0"}, std::nullopt);
  EXPECT_EQ(path_kind(same_switch, gpu, NumaNodes::kSeveral), "PIX");
  EXPECT_EQ(path_kind(lower_switch, gpu, NumaNodes::kSeveral), "PXB");
  EXPECT_EQ(path_kind(beside_lower, lower_switch, NumaNodes::kSeveral), "PXB");
  EXPECT_EQ(path_kind(same_root, gpu, NumaNodes::kSeveral), "PHB");
  EXPECT_EQ(path_kind(on_root_bus, gpu, NumaNodes::kSeveral), "PHB");
  EXPECT_EQ(path_kind(other_root, gpu, NumaNodes::kSeveral), "NODE");
  EXPECT_EQ(path_kind(other_node, gpu, NumaNodes::kSeveral), "SYS");
  EXPECT_EQ(path_kind(no_node, gpu, NumaNodes::kSeveral), "");
  EXPECT_EQ(path_kind(no_node, device("e1:00.0", {"e0:01.0"}, std::nullopt), NumaNodes::kOne), "NODE");
  EXPECT_EQ(path_kind(no_node, device("e1:00.0", {"e0:01.0"}, std::nullopt), NumaNodes::kUnknown), "");
  EXPECT_EQ(path_kind(no_node, same_root, NumaNodes::kSeveral), "");
}

TEST(PathKind, DomainsAreDifferentHostBridges) {
  EXPECT_EQ(path_kind(device("0000:01:00.0", {"0000:00:00.0"}), device("0010:01:00.0", {"0010:00:00.0"}, 1),
                      NumaNodes::kSeveral),
            "SYS");
  EXPECT_EQ(path_kind(device("0000:01:00.0", {"0000:00:00.0"}), device("0010:01:00.0", {"0010:00:00.0"}),
                      NumaNodes::kSeveral),
            "NODE");
}

TEST(GpuPaths, NearestFirstThenByAddress) {
  PciDevice nic = device("0c:00.0", {"07:01.0", "08:00.0", "09:01.0"});
  std::vector<Gpu> gpus = {{device("c1:00.0", {"c0:01.0"}, 1)},
                           {device("41:00.0", {"40:01.0"})},
                           {device("31:00.0", {"30:01.0"})},
                           {device("0f:00.0", {"07:01.0", "08:00.0", "09:00.0"})}};
  std::string text;
  for (const GpuPath& path : gpu_paths(nic, gpus, NumaNodes::kSeveral))
    text += fmt::format("{} {}\n", path.gpu, path.kind);
  EXPECT_EQ(text,
            "0000:0f:00.0 PIX\n"
            "0000:31:00.0 NODE\n"
            "0000:41:00.0 NODE\n"
            "0000:c1:00.0 SYS\n");
}

}  // namespace
}  // namespace railbed::facts
