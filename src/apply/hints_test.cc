// SPDX-License-Identifier: Apache-2.0
#include "apply/hints.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace railbed::apply {
namespace {

TEST(Hints, OfAVfCountThatIsRefused) {
  struct Case {
    std::vector<int> numbers;
    std::optional<int> total;
    std::string hint;
  };
  const Case cases[] = {
      {{ERANGE, EINVAL}, 8, "the device allows 8 VFs (sriov_totalvfs), not 9"},
      {{ERANGE, EINVAL}, {}, "the device allows fewer VFs: see its sriov_totalvfs"},
      {{EBUSY},
       8,
       "the PF or its VFs are in use: by another program that creates VFs, a virtual machine with a VF, or a driver "
       "that requires the interface up; `railbed status` shows the pods with VFs"},
      {{ENOMEM},
       8,
       "no memory space for the VFs' registers: enable SR-IOV and \"MMIO above 4G\" in the BIOS, or boot with "
       "pci=realloc"},
      {{EIO},
       8,
       "the device or its firmware failed: the kernel's log (dmesg) has the reason; a cold restart of the card often "
       "helps"},
      {{ENODEV, ENOENT, ENXIO}, 8, "the PF no longer exists: it was removed, reset, or its driver was unloaded"},
      {{EOPNOTSUPP, ENOSYS}, 8, "the PF's driver does not support VFs: vfio-pci, or a driver that is being unloaded"},
      {{EPERM, EACCES, EROFS}, 8, "writing to sysfs needs root, and a /sys that is not mounted read-only"},
      {{ETIMEDOUT}, 8, ""},
  };
  for (const Case& c : cases)
    for (const int number : c.numbers)
      EXPECT_EQ(vf_count_hint(system_error(number, "write"), 9, c.total), c.hint) << errno_name(number);
}

TEST(Hints, OfAVfThatNoDriverTakes) {
  EXPECT_EQ(no_driver_hint({.type = DeviceType::kNetdevice, .driver_loaded = false, .has_iommu_group = false}),
            "no loaded driver supports this VF: load the module of its vendor (`modinfo -F alias`, dmesg), or its "
            "probe failed (dmesg)");
  EXPECT_EQ(no_driver_hint({.type = DeviceType::kVfioPci, .driver_loaded = false, .has_iommu_group = true}),
            "the driver vfio-pci is not loaded: `modprobe vfio-pci`");
  EXPECT_EQ(no_driver_hint({.type = DeviceType::kVfioPci, .driver_loaded = true, .has_iommu_group = false}),
            "the VF is in no IOMMU group: enable VT-d or AMD-Vi in the BIOS and boot with intel_iommu=on (Intel) or "
            "iommu=pt");
  EXPECT_EQ(no_driver_hint({.type = DeviceType::kVfioPci, .driver_loaded = true, .has_iommu_group = true}),
            "vfio-pci refused the VF: the kernel's log (dmesg) has the reason");
}

TEST(Hints, OfAnMtuThatIsRefused) {
  for (const int number : {EINVAL, ERANGE}) {
    const Error error = system_error(number, "mtu");
    EXPECT_EQ(mtu_hint(error, 9000, 8999), "the PF's MTU is 8999: a VF cannot have more; raise the PF's first");
    EXPECT_EQ(mtu_hint(error, 9000, 9000), "the driver does not take this MTU: `ip -d link` shows maxmtu");
    EXPECT_EQ(mtu_hint(error, 9000, {}), "the driver does not take this MTU: `ip -d link` shows maxmtu");
  }
  EXPECT_EQ(mtu_hint(system_error(EBUSY, "mtu"), 9000, {}),
            "the driver changes the MTU only while the interface is down");
  EXPECT_EQ(mtu_hint(system_error(EIO, "mtu"), 9000, {}), "");
}

}  // namespace
}  // namespace railbed::apply
