// SPDX-License-Identifier: Apache-2.0
#include "attach/rdma.h"

#include <algorithm>

namespace railbed::attach {

std::string cannot_open(const os::FileTree& files, const std::string& rdma,
                        const std::vector<std::string>& char_devices) {
  bool verbs = std::ranges::any_of(
      char_devices, [](const std::string& device) { return device.starts_with("/dev/infiniband/uverbs"); });
  if (!verbs) return fmt::format("RDMA device {} has no uverbs device; check that ib_uverbs is loaded", rdma);
  for (const std::string& device : char_devices)
    if (!files.exists(device)) return fmt::format("{} of RDMA device {} not found", device, rdma);
  if (!files.exists(os::kConnectionManager))
    return fmt::format("{} not found; check that rdma_ucm is loaded", os::kConnectionManager);
  return "";
}

std::vector<std::string> char_devices(const os::FileTree& files, const std::vector<std::string>& rdma) {
  std::vector<std::string> all;
  for (const std::string& device : rdma)
    for (std::string& file : os::char_devices(files, device, os::Mad::kNo)) all.push_back(std::move(file));
  return all;
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
