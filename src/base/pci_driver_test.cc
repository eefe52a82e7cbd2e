// SPDX-License-Identifier: Apache-2.0
#include "base/pci_driver.h"

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(PciDriverTest, DistinguishesDriversOfProgramsFromTheKernels) {
  for (const char* driver :
       {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_vfio_pci", "pci-pf-stub", "pciback", "xen-pciback"})
    EXPECT_TRUE(is_user_space_driver(driver)) << driver;
  for (const char* driver : {"", "mlx5_core", "iavf", "igbvf", "vfio", "vfio-pci2"})
    EXPECT_FALSE(is_user_space_driver(driver)) << driver;
}

TEST(PciDriverTest, NamesTheDriverOfEachDeviceType) {
  EXPECT_EQ(driver_for(DeviceType::kVfioPci), "vfio-pci");
  EXPECT_EQ(driver_for(DeviceType::kNetdevice), "");
}

}  // namespace
}  // namespace railbed
