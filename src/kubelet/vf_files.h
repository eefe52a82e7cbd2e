// SPDX-License-Identifier: Apache-2.0
// What a program that uses a VF opens: looked up in sysfs at the moment when a pod gets the VF.
//
// Why then: binding a driver anew renumbers groups and RDMA devices, so what was true when the node was looked at may
// be a neighbour's by now. Threading: any thread. Failure: NotFound where there is no such device; Io. Source:
// Documentation/driver-api/vfio.rst; drivers/vfio/group.c for the names without an IOMMU.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"
#include "os/ports/file_tree.h"

namespace railbed::kubelet {

struct VfFiles {
  std::string driver;                     // empty: none
  std::string iommu_group;                // "12"; empty: none
  bool no_iommu = false;                  // the group's file on the host is then noiommu-12
  std::string rdma;                       // its RDMA device, "mlx5_4"; empty: none
  std::vector<std::string> char_devices;  // "/dev/infiniband/uverbs4", …
  friend bool operator==(const VfFiles&, const VfFiles&) = default;
};

Result<VfFiles> vf_files(const os::FileTree& files, PciAddress vf);

}  // namespace railbed::kubelet
