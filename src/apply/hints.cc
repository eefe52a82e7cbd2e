// SPDX-License-Identifier: Apache-2.0
#include "apply/hints.h"

#include <cerrno>

#include "base/command.h"

namespace railbed::apply {

std::string vf_count_hint(const Error& error, int wanted, std::optional<int> total) {
  switch (error.sys_errno) {
    case ERANGE:
    case EINVAL:
      if (total) return fmt::format("the device allows {} VFs (sriov_totalvfs), not {}", *total, wanted);
      return "the device allows fewer VFs: see its sriov_totalvfs";
    case EBUSY:
      return "the PF or its VFs are in use: by another program that creates VFs, a virtual machine with a VF, or a "
             "driver that requires the interface up; `railbed status` shows the pods with VFs";
    case ENOMEM:
      return "no memory space for the VFs' registers: enable SR-IOV and \"MMIO above 4G\" in the "
             "BIOS, or boot with pci=realloc";
    case EIO:
      return "the device or its firmware failed: the kernel's log (dmesg) has the reason; a cold "
             "restart of the card often helps";
    case ENODEV:
    case ENOENT:
    case ENXIO:
      return "the PF no longer exists: it was removed, reset, or its driver was unloaded";
    case EOPNOTSUPP:
    case ENOSYS:
      return "the PF's driver does not support VFs: vfio-pci, or a driver that is being unloaded";
    case EPERM:
    case EACCES:
    case EROFS:
      return "writing to sysfs needs root, and a /sys that is not mounted read-only";
    default:
      return "";
  }
}

std::string no_driver_hint(const DriverConditions& found) {
  const std::string_view driver = driver_for(found.type);
  if (found.type == DeviceType::kNetdevice)
    return "no loaded driver supports this VF: load the module of its vendor (`modinfo -F alias`, dmesg), or its probe "
           "failed (dmesg)";
  if (!found.driver_loaded)
    return fmt::format("the driver {} is not loaded: `{}`", driver, Command{"modprobe"}.operand(driver));
  if (!found.has_iommu_group)
    return "the VF is in no IOMMU group: enable VT-d or AMD-Vi in the BIOS and boot with "
           "intel_iommu=on (Intel) or iommu=pt";
  return fmt::format("{} refused the VF: the kernel's log (dmesg) has the reason", driver);
}

std::string mtu_hint(const Error& error, int wanted, std::optional<int> pf_mtu) {
  if (error.sys_errno == EINVAL || error.sys_errno == ERANGE) {
    if (pf_mtu && *pf_mtu < wanted)
      return fmt::format("the PF's MTU is {}: a VF cannot have more; raise the PF's first", *pf_mtu);
    return "the driver does not take this MTU: `ip -d link` shows maxmtu";
  }
  if (error.sys_errno == EBUSY) return "the driver changes the MTU only while the interface is down";
  return "";
}

}  // namespace railbed::apply
