// SPDX-License-Identifier: Apache-2.0
// The files that a program opens to use a VF: looked up in sysfs when a pod gets the VF.
//
// Why then: re-binding a driver renumbers groups and RDMA devices, so what was true when the node was scanned may
// belong to another VF by now.
// Threading: any thread.
// Failure: NotFound if there is no such device; Io.
// Source: Documentation/driver-api/vfio.rst; drivers/vfio/group.c for the names without an IOMMU.
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
