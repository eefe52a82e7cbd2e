// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/fabric.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "doc/text.h"

namespace railbed::perf::mesh {
namespace {

Result<void> check_names(const std::vector<std::string>& names, std::string_view what) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) return fail(Code::kInvalid, "a {} of the mesh has no name", what);
    if (name.size() > kMaxNameBytes)
      return fail(Code::kInvalid, "the name of a {} has {} bytes; {} is the limit", what, name.size(), kMaxNameBytes);
    if (!seen.insert(name).second)
      return fail(Code::kInvalid, "two {}s of the mesh are named {}", what, doc::printable(name));
  }
  return {};
}

Result<void> check_ports(const Endpoint& endpoint, const Fabric& fabric) {
  if (endpoint.ports.size() != fabric.rails.size())
    return fail(Code::kInvalid, "host {} has {} rail ports; the mesh has {} rails", doc::printable(endpoint.host),
                endpoint.ports.size(), fabric.rails.size());
  if (std::ranges::none_of(endpoint.ports, &RailPort::there))
    return fail(Code::kInvalid, "host {} has no NIC on any rail", doc::printable(endpoint.host));
  for (const RailPort& port : endpoint.ports)
    if (port.leaf && *port.leaf >= fabric.leaves.size())
      return fail(Code::kInvalid, "a NIC of host {} is on leaf {}; the mesh has {} leaves",
                  doc::printable(endpoint.host), *port.leaf, fabric.leaves.size());
  return {};
}

}  // namespace

Result<void> validate(const Fabric& fabric) {
  if (fabric.endpoints.size() < 2 || fabric.endpoints.size() > kMaxHosts)
    return fail(Code::kInvalid, "a mesh needs 2 to {} hosts, not {}", kMaxHosts, fabric.endpoints.size());
  if (fabric.rails.empty() || fabric.rails.size() > kMaxRails)
    return fail(Code::kInvalid, "a mesh needs 1 to {} rails, not {}", kMaxRails, fabric.rails.size());
  if (fabric.leaves.size() > kMaxLeaves)
    return fail(Code::kInvalid, "a mesh has at most {} leaves, not {}", kMaxLeaves, fabric.leaves.size());
  TRY(check_names(fabric.rails, "rail"));
  TRY(check_names(fabric.leaves, "leaf"));
  std::vector<std::string> hosts;
  for (const Endpoint& endpoint : fabric.endpoints) hosts.push_back(endpoint.host);
  TRY(check_names(hosts, "host"));
  for (const Endpoint& endpoint : fabric.endpoints) TRY(check_ports(endpoint, fabric));
  return {};
}

}  // namespace railbed::perf::mesh
