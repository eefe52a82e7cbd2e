// SPDX-License-Identifier: Apache-2.0
#include "kubelet/vf_files.h"

#include "os/ports/rdma_files.h"

namespace railbed::kubelet {
namespace {

// The name of a link's target; empty where there is none.
Result<std::string> optional_link(const os::FileTree& files, const std::string& path) {
  Result<std::string> name = os::link_name(files, path);
  if (!name.has_value() && name.error().code == Code::kNotFound) return std::string();
  return name;
}

}  // namespace

Result<VfFiles> vf_files(const os::FileTree& files, PciAddress vf) {
  const std::string device = fmt::format("/sys/bus/pci/devices/{}", vf);
  if (!files.exists(device)) return fail(Code::kNotFound, "device {} not found", vf);
  VfFiles found;
  found.driver = TRY(optional_link(files, device + "/driver"));
  found.iommu_group = TRY(optional_link(files, device + "/iommu_group"));
  Result<std::string> name = os::read_line(files, device + "/iommu_group/name");
  found.no_iommu = name.has_value() && *name == "vfio-noiommu";
  for (const std::string& rdma : os::rdma_devices(files, device)) {
    if (found.rdma.empty()) found.rdma = rdma;
    for (std::string& file : os::char_devices(files, rdma, os::Mad::kYes))
      found.char_devices.push_back(std::move(file));
  }
  return found;
}

}  // namespace railbed::kubelet
