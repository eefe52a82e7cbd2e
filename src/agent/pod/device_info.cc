// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/device_info.h"

#include <algorithm>

#include "doc/json.h"

namespace railbed::agent {
namespace {

constexpr size_t kMostNameBytes = 255;

// One component of a path: names come from pods and device plugins.
std::string component(std::string name) {
  for (char& c : name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x21 || c == 0x7f) c = '-';
  if (name.size() > kMostNameBytes) name.resize(kMostNameBytes);
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

}  // namespace

doc::Value read_device_info(const std::string& text) {
  doc::Diagnostics unread;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"device-info", text}), unread);
  const doc::Value* type = value ? value->find("type") : nullptr;
  if (type == nullptr || !type->is_string()) return {};
  return *std::move(value);
}

std::string DeviceInfo::path(const std::string& network, const std::string& container,
                             const std::string& ifname) const {
  return directory_ + "/cni/" + component(fmt::format("{}-{}_{}", network, container, ifname));
}

Result<void> DeviceInfo::copy(const std::string& resource, const std::string& device, const std::string& path) {
  std::string from = directory_ + "/dp/" + component(fmt::format("{}-{}-device.json", resource, device));
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
  doc::Value info = doc::Value::object();
  info.set("type", "pci");
  info.set("version", "1.1.0");
  doc::Value& pci = info.set("pci", doc::Value::object());
  pci.set("pci-address", made.device->to_string());
  if (!made.rdma.empty()) pci.set("rdma-device", made.rdma);
  return info;
}

}  // namespace railbed::agent
