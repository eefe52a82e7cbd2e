// SPDX-License-Identifier: Apache-2.0
#include "os/ports/rdma_files.h"

#include "base/format.h"

namespace railbed::os {

std::vector<std::string> rdma_devices(const FileTree& files, const std::string& path) {
  return files.list(path + "/infiniband").value_or(std::vector<std::string>{});
}

std::vector<std::string> char_devices(const FileTree& files, const std::string& rdma, Mad mad) {
  std::vector<std::string> devices;
  for (const auto& [folder, prefix] : {std::pair("infiniband_verbs", "uverbs"), std::pair("infiniband_mad", "umad")}) {
    if (std::string_view(prefix) == "umad" && mad == Mad::kNo) continue;
    std::string directory = fmt::format("/sys/class/{}", folder);
    auto names = files.list(directory);
    if (!names.has_value()) continue;
    for (const std::string& name : *names) {
      if (!name.starts_with(prefix)) continue;
      auto owner = read_line(files, directory + "/" + name + "/ibdev");
      if (owner.has_value() && *owner == rdma) devices.push_back("/dev/infiniband/" + name);
    }
  }
  return devices;
}

}  // namespace railbed::os
