// SPDX-License-Identifier: Apache-2.0
// AddressCell of railbed.dev/v1: which nodes may allocate which of 16 neighbouring addresses.
//
// Why: nodes share a range, and each allocates only what it has leased. The unit is a cell: 16 addresses, starting at a
// multiple of 16, of a whereabouts network_name. It is never a range or a definition, so ranges that overlap, or are
// written twice, use the same object. If the object does not exist, its addresses are free. A lease covers single
// addresses (offsets): all 16 of a cell, or some, alongside those of other nodes. The content of an object is checked
// against its name. If two leases have the same offset, the one that is first in the object is valid, since each holder
// writes its lease in place and adds new ones at the end. The later lease keeps the offset in the object, for people to
// see, but no reader counts it as leased to its holder.
// Threading: plain values.
// Failure: read_address_cell, Invalid with the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "doc/value.h"

namespace railbed::api {

inline constexpr uint64_t kCellSize = 16;
// Bit i: the address `base` + i.
using CellOffsets = uint16_t;
inline constexpr CellOffsets kWholeCell = 0xffff;

// What an object may have: longer ones are not read, and the definition of the kind refuses them.
inline constexpr size_t kMostCellLeases = kCellSize;
inline constexpr size_t kLongestHolderText = 253;    // of a node, a machine, a boot, a claim; printable ASCII
inline constexpr size_t kLongestNetworkName = 1024;  // bytes

// A boot of a machine. The node's name alone would not do: another machine may have it next.
struct CellHolder {
  std::string node;
  std::string system_uuid;
  std::string boot_id;
  friend bool operator==(const CellHolder&, const CellHolder&) = default;
};

struct CellLease {
  CellHolder holder;
  std::string claim;  // of the write that made it, unlike that of any other
  CellOffsets offsets = 0;
  CellOffsets overlapping = 0;  // stored in this lease, but an earlier one of the cell has them
  // The holder gives no new address when it has not heard of the API server for so long; 0: it never stops.
  int64_t quiet_seconds = 0;
  // For how long the operator has seen no Node of this name and machine. The holder's next write ends it.
  int64_t gone_seconds = 0;
  // Members that a later version has written: agents of two versions lease of the same cells, and this one keeps them.
  doc::Value other{};
  friend bool operator==(const CellLease&, const CellLease&) = default;
};

struct AddressCell {
  std::string network_name;  // of whereabouts; may be empty
  IpAddress base;            // a multiple of kCellSize
  std::vector<CellLease> leases;
  // Of the stored object; empty: there is none.
  std::string uid;
  std::string resource_version;
  doc::Value other{};  // as CellLease::other, of the spec
  // What others have written about the object, which a write of ours keeps: annotations, finalizers, the time of its
  // deletion; labels.
  doc::Value metadata{};
  doc::Value labels{};
  friend bool operator==(const AddressCell&, const AddressCell&) = default;
};

// A finalizer keeps the object, which vanishes with all of its leases when that is removed.
bool is_being_deleted(const AddressCell& cell);
// Gives each offset to the first of the leases that have it. After leases were removed or changed.
void give_offsets_to_the_first(std::vector<CellLease>& leases);

// The object's name: "10-0-0-16-<number of the network_name>"; IPv6 addresses are 32 hexadecimal digits.
std::string cell_name(std::string_view network_name, const IpAddress& base);
// Keys of labels that the object of a cell has, with an empty value: of its network, and of each machine with a lease.
std::string cell_network_label(std::string_view network_name);
std::string cell_holder_label(std::string_view system_uuid);

Result<AddressCell> read_address_cell(const doc::Value& object);
// The whole object.
doc::Value to_value(const AddressCell& cell);

}  // namespace railbed::api
