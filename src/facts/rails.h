// SPDX-License-Identifier: Apache-2.0
// What each port of a node is for: a rail of the compute network, storage, or the host's front end.
//
// Why: a rail is the port of one GPU. To count the ports that are usable goes wrong as soon as one is down (all later
// rails shift, and two nodes cross theirs), or as ports of another speed or card stand among them. So rails follow from
// where the GPUs are: of the ports near GPUs (below the same PCIe switch, else on the same host bridge) those of the
// fastest kind of card are rails, numbered by their GPU. A port that is down keeps its number, and a GPU without a port
// leaves a hole. Without GPUs, or where no port is near one, all ports of the fastest kind are rails, by address; of
// InfiniBand ports those of the fabric with most of them.
//
// Threading: pure functions. Failure: none; a node without a fitting port has no rails, and each port's reason says
// why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

enum class Role : uint8_t { kCompute, kStorage, kFrontEnd };
std::string_view role_name(Role role);  // "compute", "storage", "front end"

enum class RdmaNeed : bool { kHardware, kAny };

struct RailChoice {
  std::optional<LinkType> link_type;  // rails of this kind only; absent: of the kind that fits best
  RdmaNeed rdma = RdmaNeed::kHardware;
};

struct NicRole {
  Role role = Role::kFrontEnd;
  std::optional<int> rail;  // its number, of compute ports only
  std::string reason;       // "nearest to GPU 3 (PIX)", "100G, the rails have 400G"
  friend bool operator==(const NicRole&, const NicRole&) = default;
};

// One for each of the node's NICs, in their order.
std::vector<NicRole> roles_of(const NodeFacts& facts, const RailChoice& choice = {});

// The first port of the card's hardware RDMA devices; null when there is none.
const RdmaPort* hardware_port(const Nic& nic);
// In Gb/s, of a port that is up; nullopt when it is down or nothing tells.
std::optional<double> port_speed(const Nic& nic);
bool is_down(const Nic& nic);

}  // namespace railbed::facts
