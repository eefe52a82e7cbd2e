// SPDX-License-Identifier: Apache-2.0
#include "apply/pci_device.h"

#include <algorithm>

#include "base/number.h"

namespace railbed::apply {

namespace {
constexpr const char* kDevices = "/sys/bus/pci/devices/";
}  // namespace

std::string device_path(PciAddress device) {
  return kDevices + device.to_string();
}

std::string attribute(PciAddress device, std::string_view name) {
  return (device_path(device) + "/").append(name);
}

std::string driver_of(const os::FileTree& files, PciAddress device) {
  return os::link_name(files, attribute(device, "driver")).value_or("");
}

namespace {

constexpr std::string_view kVfLink = "virtfn";  // and the VF's index

}  // namespace

Result<int> read_number(const os::FileTree& files, const std::string& path) {
  std::string text = TRY(os::read_line(files, path));
  std::optional<int> number = whole_number<int>(text);
  if (!number) return fail(Code::kIo, "read {}: \"{}\" is not a number", path, text);
  return *number;
}

std::vector<Netdev> netdevs_of(const os::FileTree& files, PciAddress device) {
  std::vector<Netdev> found;
  std::string directory = attribute(device, "net");
  auto names = files.list(directory);
  if (!names) return found;
  for (const std::string& name : *names) {
    auto index = read_number(files, directory + "/" + name + "/ifindex");
    if (index) found.push_back({IfName{name}, IfIndex{*index}});
  }
  return found;
}

bool has_netdev(const os::FileTree& files, PciAddress device) {
  auto names = files.list(attribute(device, "net"));
  return names && !names->empty();
}

std::vector<VfDevice> vfs_of(const os::FileTree& files, PciAddress pf) {
  std::vector<VfDevice> found;
  auto names = files.list(device_path(pf));
  if (!names) return found;
  for (const std::string& name : *names) {
    if (!name.starts_with(kVfLink)) continue;
    std::optional<int> index = whole_number<int>(std::string_view(name).substr(kVfLink.size()));
    auto target = os::link_name(files, attribute(pf, name));
    if (!index || !target) continue;
    if (auto address = PciAddress::parse(*target)) found.push_back({VfIndex{*index}, *address});
  }
  std::ranges::sort(found, {}, &VfDevice::index);
  return found;
}

size_t count_vfs(const os::FileTree& files, PciAddress pf) {
  auto names = files.list(device_path(pf));
  if (!names) return 0;
  return static_cast<size_t>(
      std::ranges::count_if(*names, [](const std::string& name) { return name.starts_with(kVfLink); }));
}

PciAddress vf_address(const os::FileTree& files, PciAddress pf, VfIndex index, PciAddress planned) {
  auto target = os::link_name(files, attribute(pf, fmt::format("virtfn{}", index)));
  return target ? PciAddress::parse(*target).value_or(planned) : planned;
}

}  // namespace railbed::apply
