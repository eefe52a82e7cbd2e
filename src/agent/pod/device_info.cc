// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/device_info.h"

#include "doc/json.h"
#include "kubelet/device_info.h"

namespace railbed::agent {

doc::Value read_device_info(const std::string& text) {
  doc::Diagnostics unread;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"device-info", text}), unread);
  const doc::Value* type = value ? value->find("type") : nullptr;
  if (type == nullptr || !type->is_string()) return {};
  return *std::move(value);
}

std::string DeviceInfo::path(const std::string& network, const std::string& container,
                             const std::string& ifname) const {
  return directory_ + "/cni/" + kubelet::file_name_of(fmt::format("{}-{}_{}", network, container, ifname));
}

Result<void> DeviceInfo::copy(const std::string& resource, const std::string& device, const std::string& path) {
  std::string from = kubelet::device_info_path(directory_, resource, device);
  Result<std::string> text = disk_.read(from);
  if (!text.has_value() && text.error().code == Code::kNotFound) return {};
  if (!text.has_value()) return fail(std::move(text.error()));
  TRY(disk_.make_directories(directory_ + "/cni", 0755));
  return disk_.replace(path, *text, 0644);
}

doc::Value DeviceInfo::read(const std::string& path) const {
  Result<std::string> text = disk_.read(path);
  return text.has_value() ? read_device_info(*text) : doc::Value();
}

Result<void> DeviceInfo::remove(const std::string& path) {
  return disk_.remove(path);
}

doc::Value DeviceInfo::of(const attach::InterfaceResult& made) {
  if (!made.device.has_value()) return {};
  return kubelet::pci_device_info(*made.device, made.rdma);
}

}  // namespace railbed::agent
