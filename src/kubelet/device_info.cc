// SPDX-License-Identifier: Apache-2.0
#include "kubelet/device_info.h"

namespace railbed::kubelet {

constexpr size_t kMostNameBytes = 255;

std::string file_name_of(std::string name) {
  for (char& c : name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x21 || c == 0x7f) c = '-';
  if (name.size() > kMostNameBytes) name.resize(kMostNameBytes);
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

std::string device_info_path(const std::string& directory, const std::string& resource, const std::string& device) {
  return directory + "/dp/" + file_name_of(fmt::format("{}-{}-device.json", resource, device));
}

doc::Value pci_device_info(PciAddress device, const std::string& rdma) {
  doc::Value info = doc::Value::object();
  info.set("type", "pci");
  info.set("version", "1.1.0");
  doc::Value& pci = info.set("pci", doc::Value::object());
  pci.set("pci-address", device.to_string());
  if (!rdma.empty()) pci.set("rdma-device", rdma);
  return info;
}

}  // namespace railbed::kubelet
