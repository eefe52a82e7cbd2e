// SPDX-License-Identifier: Apache-2.0
// Lists the holders of addresses for users, and releases those of a machine for an administrator.
//
// Why: before the operator may consider a machine removed (cell_reclaim.h), only a person knows that it is permanently
// off. Known evidence against it is checked: a Node of that machine which is Ready, and a holder that wrote its lease
// in the meantime. Offsets that an earlier lease of the cell has (CellLease::overlapping) do not belong to the holder:
// they can be released while it runs.
// Threading: pure; functions with a client block on the API server.
// Failure: NotFound if no lease has that name, Conflict with the evidence that the machine runs; the client's.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "api/address_cell.h"
#include "ipam/cell_leases.h"
#include "kube/client.h"

namespace railbed::controller {

struct ListedCell {
  api::AddressCell cell;
  std::string since;  // when the object was made
};

struct AddressesListed {
  std::vector<ListedCell> cells;        // by network, then address
  std::vector<std::string> unreadable;  // why and what to do, an object each
  std::vector<std::string> odd;         // of objects that can be read: what no agent writes, and what to do
};
Result<AddressesListed> list_addresses(kube::Client& client, std::stop_token stop);
// As docs/schemas/Addresses.json says.
doc::Value to_value(const AddressesListed& listed);

// Nodes by name.
using CellNodes = std::map<std::string, ipam::CellNode>;
Result<CellNodes> list_nodes(kube::Client& client, std::stop_token stop);

// What is to be freed.
struct ReleasePlan {
  enum class What : uint8_t {
    kLeases,
    kOverlaps,  // only what other nodes have leased: the machine runs
  };
  struct Lease {
    api::AddressCell cell;
    api::CellLease lease;
  };
  What what = What::kLeases;
  std::vector<Lease> leases;
};
// All leases of `who`: the name of a node, or the system UUID of a machine.
Result<ReleasePlan> plan_release(const AddressesListed& listed, const CellNodes& nodes, const std::string& who);
// Each lease that is still as it was listed. Returns how many addresses it has no more.
Result<size_t> release(kube::Client& client, const ReleasePlan& plan, std::stop_token stop);

size_t address_count(const api::CellLease& lease);
size_t overlap_count(const api::CellLease& lease);

}  // namespace railbed::controller
