// SPDX-License-Identifier: Apache-2.0
// Which cells of addresses a node leases, and which it releases.
//
// Why: in a cluster a node allocates only addresses that it has leased (api/address_cell.h), and it leases before pods
// need them. A CellWant describes what it needs of each network; this decides, from values alone, which cell to try
// next and what is surplus. Each node starts at its own position in the range, so that nodes seldom try the same cell.
// If a range has fewer cells than the cluster has nodes, or no whole cell is free, single addresses of a cell are
// leased: no node keeps 16 that another one needs.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/address_cell.h"
#include "api/ipam.h"

namespace railbed::ipam {

// Offsets by the base of their cell; of one network_name.
using CellMap = std::map<IpAddress, api::CellOffsets>;

IpAddress cell_of(const IpAddress& address);
// The offsets of the cell that lie in these ranges.
api::CellOffsets offsets_in(const std::vector<IpRange>& ranges, const IpAddress& base);
// The other way: ranges in ascending order that do not touch.
std::vector<IpRange> ranges_of(const IpAddress& base, api::CellOffsets offsets);

// What a node is to have of a set of ranges, each of which may give the address.
struct CellWant {
  std::string network_name;
  std::vector<api::IpamRange> ranges;
  std::vector<IpAddress> gateways;
  uint64_t addresses = 0;  // given to pods already, or free
  friend bool operator==(const CellWant&, const CellWant&) = default;
};

// One for each set of ranges of a network.
std::vector<CellWant> wants_of(const api::IpamConfig& config, uint64_t addresses);

// What an interface may get in this cell.
api::CellOffsets usable_offsets(const CellWant& want, const IpAddress& base);
// How many of a node's addresses an interface may get.
uint64_t usable_of(const CellWant& want, const CellMap& mine);

struct CellChoice {
  IpAddress base;
  api::CellOffsets offsets = 0;
  friend bool operator==(const CellChoice&, const CellChoice&) = default;
};

struct CellSearch {
  CellMap mine;
  CellMap taken;       // by others, as far as it is known: what is not here is taken for free
  uint64_t nodes = 1;  // of the cluster
  uint64_t start = 0;  // a number of this node and network
};

// What to lease next, so that the node comes to have `want.addresses`; nullopt: it has them, or nothing is left.
std::optional<CellChoice> next_cell(const CellWant& want, const CellSearch& search);

// What is not needed: not leased to an interface, and beyond what is wanted. `leased` and `wants` are of the
// network_name of `mine`.
std::vector<CellChoice> left_over(const std::vector<CellWant>& wants, const CellMap& mine, const CellMap& leased,
                                  uint64_t nodes);

}  // namespace railbed::ipam
