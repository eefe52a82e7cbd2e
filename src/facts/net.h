// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this namespace and the PCI function that each one belongs to.
//
// Why: one rtnetlink dump contains nearly everything; sysfs adds the speed, and the PCI function if the kernel is too
// old to report it (before 5.14) or the driver is in between (virtio). Without netlink (a recording of files only)
// everything comes from sysfs, and alternative names, addresses and routes are missing.
// Threading: one thread.
// Failure: absent facts, with lines in the problems of `attributes`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/attributes.h"
#include "facts/detail.h"
#include "facts/node_facts.h"
#include "os/ports/links.h"

namespace railbed::facts {

struct FoundInterface {
  NetInterface facts;
  std::string folder;  // in sysfs
  std::optional<PciAddress> pci;
  bool is_infiniband = false;  // ARPHRD_INFINIBAND
  bool is_loopback = false;
  bool is_child = false;        // sits on another interface: a VLAN, an IPoIB partition
  bool is_subfunction = false;  // of a PF, made with devlink: has the PF's PCI address and is not its port
};

// In natural order of names. `links` may be null: then sysfs alone serves.
std::vector<FoundInterface> scan_interfaces(Attributes& attributes, os::LinkPort* links, Detail detail);

// Whether a path in sysfs leads through a sub-function: "…/0000:03:00.0/mlx5_core.sf.4/net/enp3s0f0s88".
bool through_subfunction(std::string_view path);

// A VF's or scalable function's representor in switchdev mode, by its phys_port_name ("pf0vf3", "c1pf0sf88").
bool is_representor(const std::string& phys_port_name);

}  // namespace railbed::facts
