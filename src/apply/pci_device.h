// SPDX-License-Identifier: Apache-2.0
// A PCI function in sysfs: its paths, its driver, its interfaces, its VFs.
//
// Threading: pure readers.
// Failure: NotFound if the function no longer exists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "os/ports/file_tree.h"

namespace railbed::apply {

std::string device_path(PciAddress device);                           // "/sys/bus/pci/devices/0000:01:00.0"
std::string attribute(PciAddress device, std::string_view name);      // …/name
std::string driver_of(const os::FileTree& files, PciAddress device);  // empty: none is bound

struct Netdev {
  IfName name;
  IfIndex index;
};
// The interfaces of a function in this namespace. One that is just being renamed may be missing.
std::vector<Netdev> netdevs_of(const os::FileTree& files, PciAddress device);
bool has_netdev(const os::FileTree& files, PciAddress device);

struct VfDevice {
  VfIndex index;
  PciAddress address;
};
// In the order of their indexes; only those that have appeared.
std::vector<VfDevice> vfs_of(const os::FileTree& files, PciAddress pf);
size_t count_vfs(const os::FileTree& files, PciAddress pf);

// The address of VF `index`; `planned` while the kernel has no such link.
PciAddress vf_address(const os::FileTree& files, PciAddress pf, VfIndex index, PciAddress planned);

Result<int> read_number(const os::FileTree& files, const std::string& path);

}  // namespace railbed::apply
