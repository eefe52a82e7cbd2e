// SPDX-License-Identifier: Apache-2.0
#include "api/address_cell.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/fnv1a.h"
#include "base/format.h"
#include "base/kinds.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "doc/record.h"

namespace railbed::api {
namespace {

using doc::Fields;
using doc::Value;

constexpr int64_t kLongestTime = int64_t{1} << 40;

constexpr std::array<std::string_view, 7> kLeaseKeys{"node",    "systemUUID",   "bootID",     "claim",
                                                     "offsets", "quietSeconds", "goneSeconds"};
constexpr std::array<std::string_view, 3> kSpecKeys{"networkName", "base", "leases"};
// Ours, and what the API server sets itself.
constexpr std::array<std::string_view, 8> kMetadataKeys{
    "name", "uid", "resourceVersion", "labels", "generation", "creationTimestamp", "managedFields", "selfLink"};
constexpr std::string_view kNetworkLabel = "network.railbed.dev/", kHolderLabel = "holder.railbed.dev/";

// Null where there are none.
template <typename Wanted>
Value members_that(const Value& object, const Wanted& wanted) {
  Value out;
  for (const Value::Member& member : *object.as_object()) {
    if (!wanted(member.key)) continue;
    if (out.is_null()) out = Value::object();
    out.set(member.key, member.value);
  }
  return out;
}

Value members_besides(const Value& object, std::span<const std::string_view> keys) {
  return members_that(object, [&](std::string_view key) { return std::ranges::find(keys, key) == keys.end(); });
}

bool is_label_of_others(std::string_view key) {
  return !key.starts_with(kNetworkLabel) && !key.starts_with(kHolderLabel);
}

void put_members(Value& object, const Value& members) {
  if (members.is_null()) return;
  for (const Value::Member& member : *members.as_object()) object.set(member.key, member.value);
}

void keep_others(const Value& metadata, const Value& spec, AddressCell& cell) {
  cell.metadata = members_besides(metadata, kMetadataKeys);
  if (const Value* labels = doc::object_in(metadata, "labels"); labels != nullptr)
    cell.labels = members_that(*labels, is_label_of_others);
  cell.other = members_besides(spec, kSpecKeys);
  const Value::Array* leases = doc::list_in(spec, "leases");
  for (size_t i = 0; i < cell.leases.size(); ++i) cell.leases[i].other = members_besides((*leases)[i], kLeaseKeys);
}

std::string number_of(std::string_view text) {
  return fmt::format("{:016x}", fnv1a(text));
}

CellOffsets read_offsets(Fields& fields) {
  std::vector<int> offsets;
  fields.need("offsets", offsets, {.min = 0, .max = kCellSize - 1, .entries = kCellSize});
  CellOffsets out = 0;
  for (const int one : offsets) out = static_cast<CellOffsets>(out | 1U << one);
  return out;
}

Value offsets_value(const CellLease& lease) {
  Value offsets = Value::array();
  for (int i = 0; i < static_cast<int>(kCellSize); ++i)
    if ((lease.offsets | lease.overlapping) >> i & 1U) offsets.push(i);
  return offsets;
}

constexpr doc::Limits kHolderText{.bytes = kLongestHolderText};
constexpr doc::Limits kSeconds{.min = 0, .max = kLongestTime};

}  // namespace

// What others have written comes last (keep_others).

template <typename Io, doc::Is<CellLease> T>
void fields(Io& io, T& lease) {
  io.need("node", lease.holder.node, kHolderText);
  io.need("systemUUID", lease.holder.system_uuid, kHolderText);
  io.need("bootID", lease.holder.boot_id, kHolderText);
  io.some("claim", lease.claim, kHolderText);
  if constexpr (Io::kWrites)
    io.object().set("offsets", offsets_value(lease));
  else
    lease.offsets = read_offsets(io.from());
  io.some("quietSeconds", lease.quiet_seconds, kSeconds);
  io.some("goneSeconds", lease.gone_seconds, kSeconds);
  if constexpr (Io::kWrites) put_members(io.object(), lease.other);
}

// Of spec.
template <typename Io, doc::Is<AddressCell> T>
void fields(Io& io, T& cell) {
  io.some("networkName", cell.network_name, {.bytes = kLongestNetworkName});
  io.need("base", cell.base, {.bytes = 64});
  io.always("leases", cell.leases, {.entries = kMostCellLeases});
  if constexpr (Io::kWrites) put_members(io.object(), cell.other);
}

namespace {

// What no list of fields says.
Result<void> check(const AddressCell& cell, const std::string& name) {
  if (cell.base.bytes[static_cast<size_t>(cell.base.byte_count()) - 1] % kCellSize != 0)
    return fail(Code::kInvalid, "AddressCell {}: spec.base {} is not a multiple of {}", name, cell.base, kCellSize);
  if (name != cell_name(cell.network_name, cell.base))
    return fail(Code::kInvalid, "AddressCell {}: the cell of its network and base is called {}", name,
                cell_name(cell.network_name, cell.base));
  return {};
}

}  // namespace

bool is_being_deleted(const AddressCell& cell) {
  return !cell.metadata.is_null() && cell.metadata.find("deletionTimestamp") != nullptr;
}

void give_offsets_to_the_first(std::vector<CellLease>& leases) {
  CellOffsets taken = 0;
  for (CellLease& lease : leases) {
    const auto stored = static_cast<CellOffsets>(lease.offsets | lease.overlapping);
    lease.overlapping = static_cast<CellOffsets>(stored & taken);
    lease.offsets = static_cast<CellOffsets>(stored & ~taken);
    taken |= stored;
  }
}

std::string cell_name(std::string_view network_name, const IpAddress& base) {
  std::string out;
  if (base.family == IpFamily::kV4) {
    out = fmt::format("{}", fmt::join(base.bytes.begin(), base.bytes.begin() + base.byte_count(), "-"));
  } else {
    for (const uint8_t byte : base.bytes) out += fmt::format("{:02x}", byte);
  }
  return fmt::format("{}-{}", out, number_of(network_name));
}

std::string cell_network_label(std::string_view network_name) {
  return std::string(kNetworkLabel) + number_of(network_name);
}

std::string cell_holder_label(std::string_view system_uuid) {
  return std::string(kHolderLabel) + number_of(system_uuid);
}

Result<AddressCell> read_address_cell(const Value& object) {
  doc::Diagnostics found;
  AddressCell cell;
  const Value* metadata = doc::object_in(object, "metadata");
  if (metadata == nullptr) return fail(Code::kInvalid, "an AddressCell without metadata");
  const std::string name = doc::text_in(*metadata, "name");
  cell.uid = doc::text_in(*metadata, "uid");
  cell.resource_version = doc::text_in(*metadata, "resourceVersion");
  const auto in_cell = [&] { return fmt::format("AddressCell {}", name); };
  {
    Fields top(object, "", doc::kNoFamily, found);
    top.require("spec");
    top.inside("spec", [&](Fields& spec) { doc::read_record(spec, cell); });
  }
  TRY(doc::first_error(found).context("{}", in_cell()));
  TRY(check(cell, name));
  give_offsets_to_the_first(cell.leases);
  keep_others(*metadata, *doc::object_in(object, "spec"), cell);
  return cell;
}

Value to_value(const AddressCell& cell) {
  Value labels = Value::object();
  put_members(labels, cell.labels);
  labels.set(cell_network_label(cell.network_name), "");
  for (const CellLease& lease : cell.leases) labels.set(cell_holder_label(lease.holder.system_uuid), "");
  Value metadata = Value::object();
  metadata.set("name", cell_name(cell.network_name, cell.base));
  doc::put_text(metadata, "uid", cell.uid);
  doc::put_text(metadata, "resourceVersion", cell.resource_version);
  metadata.set("labels", std::move(labels));
  put_members(metadata, cell.metadata);
  Value out = Value::object();
  out.set("apiVersion", kind_named("AddressCell").api_version());
  out.set("kind", kind_named("AddressCell").name);
  out.set("metadata", std::move(metadata));
  out.set("spec", doc::record_value(cell));
  return out;
}

}  // namespace railbed::api
