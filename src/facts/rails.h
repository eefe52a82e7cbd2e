// SPDX-License-Identifier: Apache-2.0
// The role of each port of a node: a rail of the compute network, storage, or the host's front end.
//
// Why: a rail is the port of one GPU. Counting the usable ports fails as soon as one is down (all later rails shift,
// and two nodes are cross-connected), or if ports of another speed or card are among them. So rails are derived from
// the location of the GPUs: of the ports near GPUs (below the same PCIe switch, else on the same host bridge) those of
// the fastest type of card are rails, numbered by their GPU. A port that is down keeps its number, a GPU without a port
// leaves a gap, and so does a GPU that is missing: its port sits like the ports of the other GPUs, and stays the rail.
// Without GPUs, or if no port is near one, all ports of the fastest type are rails, by address; of InfiniBand ports
// those of the fabric with most of them.
//
// Threading: pure functions.
// Failure: none; a node without a matching port has no rails, and each port's reason explains it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

enum class Role : uint8_t {
  kCompute,
  kStorage,
  kFrontEnd,
  kUnused,  // a second port without a cable, on every card of its kind
};
std::string_view role_name(Role role);  // "compute", "storage", "front end", "unused"

enum class RdmaNeed : bool { kHardware, kAny };

struct RailChoice {
  std::optional<LinkType> link_type;  // rails of this kind only; absent: of the kind that fits best
  RdmaNeed rdma = RdmaNeed::kHardware;
};

struct NicRole {
  Role role = Role::kFrontEnd;
  std::optional<int> rail;  // its number, of compute ports only
  std::string reason;       // "nearest to GPU 3 (PIX)", "100G, the rails have 400G"
  bool lost_gpu = false;    // of a rail: its switch has fewer GPUs than those of the other rails
  friend bool operator==(const NicRole&, const NicRole&) = default;
};

// One for each of the node's NICs, in their order.
std::vector<NicRole> roles_of(const NodeFacts& facts, const RailChoice& choice = {});

// The rails of several nodes by the addresses of their ports: a node all of whose addresses are rails of the node with
// most rails gets its numbers, since without the GPUs' help a card that is missing shifts all later ones.
void align_rails(std::vector<std::map<PciAddress, int>>& nodes);

// The first port of the card's hardware RDMA devices; null when there is none.
const RdmaPort* hardware_port(const Nic& nic);
// In Gb/s, of a port that is up; nullopt when it is down or the speed is unknown.
std::optional<double> port_speed(const Nic& nic);
bool is_down(const Nic& nic);

}  // namespace railbed::facts
