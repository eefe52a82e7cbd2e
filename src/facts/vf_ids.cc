// SPDX-License-Identifier: Apache-2.0
#include "facts/vf_ids.h"

#include <algorithm>
#include <string_view>

namespace railbed::facts {
namespace {

struct Ids {
  std::string_view vendor;
  std::string_view device;
};

constexpr Ids kVfs[] = {
    // mlx4, mlx5: ConnectX-3, -IB, -4, -4 Lx, -5, -5 Ex, -6 and later, BlueField
    {"15b3", "1002"},
    {"15b3", "1004"},
    {"15b3", "1012"},
    {"15b3", "1014"},
    {"15b3", "1016"},
    {"15b3", "1018"},
    {"15b3", "101a"},
    {"15b3", "101c"},
    {"15b3", "101e"},
    {"15b3", "a2d3"},
    // igbvf
    {"8086", "10ca"},
    {"8086", "1520"},
    // ixgbevf
    {"8086", "10ed"},
    {"8086", "1515"},
    {"8086", "1565"},
    {"8086", "15a8"},
    {"8086", "15c5"},
    // iavf
    {"8086", "154c"},
    {"8086", "1571"},
    {"8086", "1889"},
    {"8086", "37cd"},
    // bnxt_en: BCM573xx, 5741x, 5750x, 5760x
    {"14e4", "1606"},
    {"14e4", "1609"},
    {"14e4", "16c1"},
    {"14e4", "16cb"},
    {"14e4", "16d3"},
    {"14e4", "16dc"},
    {"14e4", "16e1"},
    {"14e4", "16e5"},
    {"14e4", "1806"},
    {"14e4", "1807"},
    {"14e4", "1819"},
};

}  // namespace

bool is_vf_function(const PciDevice& device) {
  if (std::ranges::any_of(kVfs,
                          [&](const Ids& vf) { return vf.vendor == device.vendor && vf.device == device.device; }))
    return true;
  return device.model.find("Virtual Function") != std::string::npos || device.driver.ends_with("vf");
}

}  // namespace railbed::facts
