// SPDX-License-Identifier: Apache-2.0
#include "attach/rdma.h"

#include <algorithm>

namespace railbed::attach {

std::vector<std::string> rdma_devices(const os::FileTree& files, const std::string& path) {
  return files.list(path + "/infiniband").value_or(std::vector<std::string>{});
}

std::string cannot_open(const os::FileTree& files, const std::string& rdma,
                        const std::vector<std::string>& char_devices) {
  bool verbs = std::ranges::any_of(
      char_devices, [](const std::string& device) { return device.starts_with("/dev/infiniband/uverbs"); });
  if (!verbs) return fmt::format("RDMA device {} has no uverbs device: is ib_uverbs loaded?", rdma);
  for (const std::string& device : char_devices)
    if (!files.exists(device)) return fmt::format("{} of RDMA device {} is not there", device, rdma);
  if (!files.exists("/dev/infiniband/rdma_cm")) return "/dev/infiniband/rdma_cm is not there: is rdma_ucm loaded?";
  return "";
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

std::vector<std::string> char_devices(const os::FileTree& files, const std::vector<std::string>& rdma) {
  std::vector<std::string> all;
  for (const std::string& device : rdma)
    for (std::string& file : char_devices(files, device)) all.push_back(std::move(file));
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
