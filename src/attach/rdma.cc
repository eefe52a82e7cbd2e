// SPDX-License-Identifier: Apache-2.0
#include "attach/rdma.h"

#include <algorithm>

namespace railbed::attach {

std::string rdma_device(const os::FileTree& files, PciAddress device) {
  auto names = files.list(fmt::format("/sys/bus/pci/devices/{}/infiniband", device));
  return names.has_value() && !names->empty() ? names->front() : "";
}

std::vector<std::string> char_devices(const os::FileTree& files, const std::string& rdma) {
  std::vector<std::string> devices;
  for (const char* kind : {"infiniband_verbs", "infiniband_mad"}) {
    std::string directory = fmt::format("/sys/class/{}", kind);
    auto names = files.list(directory);
    if (!names.has_value()) continue;
    for (const std::string& name : *names) {
      auto owner = os::read_line(files, directory + "/" + name + "/ibdev");
      if (owner.has_value() && *owner == rdma) devices.push_back("/dev/infiniband/" + name);
    }
  }
  return devices;
}

std::string soft_rdma_name(PciAddress pf, VfIndex vf) {
  std::string name = "rxe";
  if (pf.domain != 0) name += fmt::format("{:x}_", pf.domain);
  name += fmt::format("{:02x}", pf.bus);
  if (pf.device != 0) name += fmt::format("d{:x}", pf.device);
  if (pf.function != 0) name += fmt::format("f{}", pf.function);
  return name + fmt::format("v{}", vf);
}

}  // namespace railbed::attach
