// SPDX-License-Identifier: Apache-2.0
// Which drivers take a PCI function away from the kernel's network stack.
//
// Why: a VF that vfio-pci or one of its kin holds has no interface and never will: whoever waits for one,
// moves one or chooses a VF for a pod asks the same question, and must get the same answer. Threading: pure
// functions. Failure: none.
#pragma once

#include <string_view>

namespace railbed {

// The driver that policies with `deviceType: vfio-pci` ask for.
inline constexpr std::string_view kVfioPci = "vfio-pci";

// Whether a driver serves programs or virtual machines instead of the kernel (Documentation/driver-api/vfio.rst, the
// kernel's uio drivers, Xen's pciback). An unbound function ("") has no such driver.
bool is_user_space_driver(std::string_view driver);

}  // namespace railbed
