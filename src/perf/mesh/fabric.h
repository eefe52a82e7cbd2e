// SPDX-License-Identifier: Apache-2.0
// The participants of a mesh: hosts with a NIC per rail, and the leaf switch of each NIC if it is known.
//
// Why: schedule, results, file and analysis refer to hosts, rails and leaves by number; names are here once. Rails are
// numbered over the whole mesh, so that rail 3 of one host is paired with rail 3 of another.
// Threading: plain values.
// Failure: Code::kInvalid with the host and the error.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace railbed::perf::mesh {

inline constexpr uint32_t kMaxHosts = 32768;
inline constexpr uint32_t kMaxRails = 64;
inline constexpr uint32_t kMaxLeaves = 65533;
inline constexpr size_t kMaxNameBytes = 253;  // a DNS name (RFC 1035)

// A NIC of the mesh.
struct Nic {
  uint32_t host = 0;
  uint32_t rail = 0;
  friend auto operator<=>(const Nic&, const Nic&) = default;
};

struct RailPort {
  bool there = true;             // false: this host has no NIC on the rail
  std::optional<uint16_t> leaf;  // index into Fabric::leaves; absent: not known
  friend bool operator==(const RailPort&, const RailPort&) = default;
};

struct Endpoint {
  std::string host;
  std::vector<RailPort> ports;  // one for each rail
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct Fabric {
  std::vector<std::string> rails;   // names
  std::vector<std::string> leaves;  // names; empty: the topology is not known
  std::vector<Endpoint> endpoints;

  uint32_t hosts() const { return static_cast<uint32_t>(endpoints.size()); }
  uint32_t rail_count() const { return static_cast<uint32_t>(rails.size()); }
  const RailPort& port(Nic nic) const { return endpoints[nic.host].ports[nic.rail]; }
  bool has(Nic nic) const { return port(nic).there; }
  // Nothing where the leaf of either is not known.
  std::optional<bool> same_leaf(Nic a, Nic b) const {
    const auto& one = port(a).leaf;
    const auto& other = port(b).leaf;
    if (!one || !other) return std::nullopt;
    return *one == *other;
  }
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

Result<void> validate(const Fabric& fabric);

}  // namespace railbed::perf::mesh
