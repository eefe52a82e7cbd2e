// SPDX-License-Identifier: Apache-2.0
// What to do about the well-known errors of SR-IOV drivers.
//
// Threading: pure functions.
// Failure: an empty text if nothing useful is known.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/pci_driver.h"

namespace railbed::apply {

// For a write to sriov_numvfs that refused `wanted` VFs; `total` is sriov_totalvfs.
std::string vf_count_hint(const Error& error, int wanted, std::optional<int> total);
// No driver is bound although drivers_probe took the address. `type` is what the VF was to become.
struct DriverConditions {  // what the driver of a VF needs
  DeviceType type = DeviceType::kNetdevice;
  bool driver_loaded = false;
  bool has_iommu_group = false;
};
std::string no_driver_hint(const DriverConditions& found);
std::string mtu_hint(const Error& error, int wanted, std::optional<int> pf_mtu);

}  // namespace railbed::apply
