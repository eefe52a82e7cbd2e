// SPDX-License-Identifier: Apache-2.0
#include "base/pci_driver.h"

#include <algorithm>

namespace railbed {

bool is_user_space_driver(std::string_view driver) {
  static constexpr std::string_view kDrivers[] = {kVfioPciDriver, "uio_pci_generic", "igb_uio",    "mlx5_vfio_pci",
                                                  "pci-pf-stub",  "pciback",         "xen-pciback"};
  return std::ranges::find(kDrivers, driver) != std::end(kDrivers);
}

}  // namespace railbed
