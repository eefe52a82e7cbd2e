// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/roster.h"

#include <algorithm>

#include "doc/text.h"

namespace railbed::perf::mesh {
namespace {

std::unexpected<Error> refuse(std::string message, std::string hint) {
  return fail(Error{.code = Code::kConflict, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace

Result<void> Roster::check_rails(const Register& one, std::optional<Id> but) const {
  for (const auto& [id, host] : hosts_) {
    if (id == but) continue;
    if (host.said.rail_count == one.rail_count) break;
    return refuse(fmt::format("{} has {} rail(s), and the mesh has {}", doc::printable(one.name), one.rail_count,
                              host.said.rail_count),
                  "give each endpoint as many with --rail; nothing between two commas is no NIC on that rail");
  }
  for (const OwnRail& own : one.rails) {
    const auto taken = rails_.find({own.address, one.port});
    if (taken != rails_.end() && taken->second != but)
      return refuse(fmt::format("{} port {} is already registered as a rail of {}", own.address, one.port,
                                doc::printable(hosts_.at(taken->second).said.name)),
                    "endpoints must not share addresses");
  }
  std::set<IpAddress> own_addresses;
  for (const OwnRail& own : one.rails)
    if (!own_addresses.insert(own.address).second)
      return refuse(fmt::format("{} has {} on two rails", doc::printable(one.name), own.address),
                    "rails must not share addresses");
  return {};
}

Result<std::optional<Roster::Id>> Roster::add(Id id, const IpAddress& from, Register one) {
  const Place server{from, one.port};
  std::optional<Id> replaces;
  if (const auto same = servers_.find(server); same != servers_.end()) {
    const std::string& name = hosts_.at(same->second).said.name;
    if (name != one.name)
      return refuse(fmt::format("{} port {} is already registered as {}", from, one.port, doc::printable(name)),
                    "one server is one host of a mesh");
    replaces = same->second;
  } else if (const auto named = names_.find(one.name); named != names_.end()) {
    const Host& other = hosts_.at(named->second);
    return refuse(
        fmt::format("{} is already registered from {} port {}", doc::printable(one.name), other.from, other.said.port),
        "rename one of them with --name");
  }
  TRY(check_rails(one, replaces));
  if (!replaces && hosts_.size() >= most_)
    return fail(Error{.code = Code::kExhausted,
                      .message = fmt::format("the mesh already has its {} endpoints", most_),
                      .hint = "`railbed perf mesh --wait` sets the number of endpoints"});
  if (replaces) remove(*replaces);
  names_[one.name] = id;
  servers_[server] = id;
  for (const OwnRail& own : one.rails) rails_[{own.address, one.port}] = id;
  hosts_[id] = {.from = from, .said = std::move(one)};
  return replaces;
}

void Roster::remove(Id id) {
  const auto host = hosts_.find(id);
  if (host == hosts_.end()) return;
  const Register& said = host->second.said;
  names_.erase(said.name);
  servers_.erase({host->second.from, said.port});
  for (const OwnRail& own : said.rails) rails_.erase({own.address, said.port});
  hosts_.erase(host);
}

Result<MeshSetup> Roster::setup() const {
  MeshSetup setup;
  const uint32_t rails = hosts_.empty() ? 0 : hosts_.begin()->second.said.rail_count;
  for (uint32_t rail = 0; rail < rails; ++rail) setup.fabric.rails.push_back(fmt::format("rail{}", rail));
  for (const auto& [name, id] : names_) {
    const Host& host = hosts_.at(id);
    Endpoint endpoint{.host = name, .ports = std::vector<RailPort>(rails, RailPort{.there = false, .leaf = {}})};
    HostAddress address{.control = host.from.to_string(), .port = host.said.port, .rails = {}};
    address.rails.resize(rails);
    for (const OwnRail& own : host.said.rails) {
      endpoint.ports[own.rail].there = true;
      address.rails[own.rail] = own;
    }
    setup.fabric.endpoints.push_back(std::move(endpoint));
    setup.hosts.push_back(std::move(address));
  }
  TRY(validate(setup.fabric));
  return setup;
}

}  // namespace railbed::perf::mesh
