// SPDX-License-Identifier: Apache-2.0
// Which drivers detach a PCI function from the kernel's network stack.
//
// Why: a VF that is bound to vfio-pci or a similar driver has no interface and never will. Code that waits for an
// interface, moves one or selects a VF for a pod asks the same question, and must get the same answer.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <cstdint>
#include <string_view>

namespace railbed {

// The driver that policies with `deviceType: vfio-pci` ask for.
inline constexpr std::string_view kVfioPciDriver = "vfio-pci";

// What a VF is to its pod: a network interface of the kernel, or a device file of vfio. A policy's `deviceType`, which
// plan, apply and attach carry out; it becomes a driver's name where sysfs is written.
enum class DeviceType : uint8_t { kNetdevice, kVfioPci };

// The driver that such a VF is bound to by name; empty for a network interface: whichever driver the kernel chooses.
constexpr std::string_view driver_for(DeviceType type) {
  return type == DeviceType::kVfioPci ? kVfioPciDriver : "";
}

// Whether a driver serves programs or virtual machines instead of the kernel (Documentation/driver-api/vfio.rst, the
// kernel's uio drivers, Xen's pciback). An unbound function ("") has no such driver.
bool is_user_space_driver(std::string_view driver);

}  // namespace railbed
