// SPDX-License-Identifier: Apache-2.0
#include "facts/fabrics.h"

#include <algorithm>

#include "facts/natural_order.h"

namespace railbed::facts {
namespace {

constexpr int kUnassignedLid = 65535;

bool taken_in(const RdmaPort& port) {
  if (port.link_type != LinkType::kInfiniband || !port.subnet_prefix || port.state != "ACTIVE") return false;
  return !(port.sm_lid && (*port.sm_lid == 0 || *port.sm_lid == kUnassignedLid));
}

}  // namespace

std::vector<Fabric> group_fabrics(const std::vector<Nic>& nics) {
  struct Member {
    std::string name;
    const RdmaPort* port;
  };
  std::vector<Member> members;
  for (const Nic& nic : nics)
    for (const RdmaDevice& device : nic.rdma)
      for (const RdmaPort& port : device.ports)
        if (taken_in(port)) members.push_back({fmt::format("{}/{}", device.name, port.number), &port});
  std::ranges::sort(members, [](const Member& a, const Member& b) { return natural_less(a.name, b.name); });
  std::vector<Fabric> fabrics;
  for (const Member& member : members) {
    auto same = std::ranges::find_if(fabrics, [&](const Fabric& fabric) {
      return fabric.subnet_prefix == *member.port->subnet_prefix && fabric.sm_lid == member.port->sm_lid;
    });
    if (same == fabrics.end()) {
      fabrics.push_back({.name = fmt::format("fabric{}", fabrics.size() + 1),
                         .subnet_prefix = *member.port->subnet_prefix,
                         .sm_lid = member.port->sm_lid});
      same = fabrics.end() - 1;
    }
    same->ports.push_back(member.name);
  }
  return fabrics;
}

}  // namespace railbed::facts
