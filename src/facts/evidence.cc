// SPDX-License-Identifier: Apache-2.0
#include "facts/evidence.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"

namespace railbed::facts {

using findings::Evidence;
using findings::Subject;

std::string name_of(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft) return fmt::format("{} ({})", device.name, nic.pci.address);
  if (!nic.netdevs.empty()) return fmt::format("{} ({})", nic.netdevs.front().name, nic.pci.address);
  return nic.pci.address.to_string();
}

std::string gts_text(double speed_gts) {
  return fmt::format("{:g} GT/s", speed_gts);
}

Evidence in_sysfs(std::string file, std::string value) {
  return {.source = "sysfs", .what = std::move(file), .value = std::move(value)};
}

Evidence of_function(PciAddress address, std::string_view attribute, std::string value) {
  return in_sysfs(fmt::format("/sys/bus/pci/devices/{}/{}", address, attribute), std::move(value));
}

Evidence of_port(const RdmaDevice& device, const RdmaPort& port, std::string_view attribute, std::string value) {
  return in_sysfs(fmt::format("/sys/class/infiniband/{}/ports/{}/{}", device.name, port.number, attribute),
                  std::move(value));
}

Evidence of_interface(const NetInterface& netdev, std::string_view attribute, std::string value) {
  return in_sysfs(fmt::format("/sys/class/net/{}/{}", netdev.name, attribute), std::move(value));
}

std::vector<Evidence> lanes_of(PciAddress function, std::optional<PciAddress> above, const PcieLink& link) {
  std::vector<Evidence> out = {of_function(function, "current_link_width", std::to_string(link.width)),
                               of_function(function, "max_link_width", std::to_string(link.max_width))};
  if (link.peer_max_width && above)
    out.push_back(of_function(*above, "max_link_width", std::to_string(*link.peer_max_width)));
  return out;
}

std::vector<Evidence> speed_and_lanes_of(PciAddress function, std::optional<PciAddress> above, const PcieLink& link) {
  std::vector<Evidence> out = {of_function(function, "current_link_speed", gts_text(link.speed_gts)),
                               of_function(function, "max_link_speed", gts_text(link.max_speed_gts))};
  if (link.peer_max_speed_gts && above)
    out.push_back(of_function(*above, "max_link_speed", gts_text(*link.peer_max_speed_gts)));
  std::ranges::move(lanes_of(function, above, link), std::back_inserter(out));
  return out;
}

Subject subject_of(const PciDevice& pci) {
  return {Subject::Kind::kPci, pci.address.to_string()};
}

Subject subject_of(const NetInterface& netdev) {
  return {Subject::Kind::kInterface, netdev.name};
}

Subject subject_of(const RdmaDevice& device, const RdmaPort& port) {
  return {Subject::Kind::kRdmaPort, fmt::format("{}/{}", device.name, port.number)};
}

}  // namespace railbed::facts
