// SPDX-License-Identifier: Apache-2.0
#include "cells/cell_api.h"

#include <algorithm>
#include <utility>

#include "kube/kinds.h"

namespace railbed::cells {
namespace {

using api::AddressCell;
using doc::Value;
using kube::kAddressCells;

constexpr const char* kUnknownNode = "(unknown: the object cannot be read)";

// An answer that says that all is well, with an object that is none of ours.
kube::Answer<AddressCell> read_answer(const Value& object) {
  Result<AddressCell> cell = api::read_address_cell(object);
  if (cell.has_value()) return *std::move(cell);
  return std::unexpected(kube::unanswered(cell.error().code, kube::Delivery::kUnknown, cell.error().story()));
}

// Another writer was first. Any other failure would come again, or is a write that may still be carried out later.
bool lost_the_race(const kube::ApiError& error) {
  return error.delivery == kube::Delivery::kAnswered && error.status < 500 &&
         (error.code == Code::kConflict || error.code == Code::kNotFound);
}

}  // namespace

AddressCell unleased(const std::string& network_name, const IpAddress& base) {
  return {.network_name = network_name, .base = base, .leases = {}, .uid = "", .resource_version = ""};
}

bool is_unreadable(const AddressCell& cell) {
  return cell.leases.size() == 1 && cell.leases.front().holder == api::CellHolder{kUnknownNode, "", ""};
}

Result<void> CellApi::each(const std::string& labels, const Each& each, std::stop_token stop) {
  const auto visitor = [&](const Value& object) { return each(object, api::read_address_cell(object)); };
  return client_
      .visit(kAddressCells, {.ns = "", .labels = labels, .fields = ""}, kube::trim_metadata, visitor, std::move(stop))
      .result()
      .context("AddressCells");
}

Result<std::vector<AddressCell>> CellApi::held_by(const std::string& system_uuid, std::stop_token stop) {
  std::vector<AddressCell> out;
  const auto keep = [&](const Value&, Result<AddressCell> cell) {
    if (cell.has_value() &&
        std::ranges::any_of(cell->leases, [&](const auto& lease) { return lease.holder.system_uuid == system_uuid; }))
      out.push_back(*std::move(cell));
    return kube::Visit::kGoOn;
  };
  TRY(each(api::cell_holder_label(system_uuid), keep, std::move(stop)));
  return out;
}

Result<std::vector<AddressCell>> CellApi::of_network(const std::string& network_name, std::stop_token stop) {
  std::vector<AddressCell> out;
  const auto keep = [&](const Value&, Result<AddressCell> cell) {
    if (cell.has_value() && cell->network_name == network_name) out.push_back(*std::move(cell));
    return kube::Visit::kGoOn;
  };
  TRY(each(api::cell_network_label(network_name), keep, std::move(stop)));
  return out;
}

kube::Answer<AddressCell> CellApi::get(const std::string& network_name, const IpAddress& base, std::stop_token stop) {
  const kube::Answer<Value> object =
      client_.get(kAddressCells, {"", api::cell_name(network_name, base)}, std::move(stop));
  if (!object && object.error().code == Code::kNotFound) return unleased(network_name, base);
  if (!object) return std::unexpected(object.error());
  Result<AddressCell> cell = api::read_address_cell(*object);
  if (cell.has_value() && cell->network_name == network_name) return *std::move(cell);
  AddressCell unknown = unleased(network_name, base);
  unknown.uid = kube::uid_of(*object);
  unknown.resource_version = kube::resource_version(*object);
  unknown.leases.push_back({.holder = {kUnknownNode, "", ""},
                            .claim = "",
                            .offsets = api::kWholeCell,
                            .quiet_seconds = 0,
                            .gone_seconds = 0});
  return unknown;
}

kube::Answer<Value> CellApi::write(const AddressCell& before, const AddressCell& next, std::stop_token stop) {
  const Value object = api::to_value(next);
  if (next.uid.empty()) return client_.create(kAddressCells, object, std::move(stop));
  if (!next.leases.empty()) return client_.update(kAddressCells, object, kube::Part::kObject, std::move(stop));
  const kube::Answer<void> removed = client_.remove(
      kAddressCells, kube::key_of(object),
      {.uid = before.uid, .resource_version = before.resource_version, .grace_seconds = {}}, std::move(stop));
  if (!removed) return std::unexpected(removed.error());
  return Value();
}

kube::Answer<CellApi::Written> CellApi::store(const AddressCell& before, const AddressCell& next, const IsDone& is_done,
                                              std::stop_token stop) {
  if (next.leases.empty() && before.uid.empty()) return Written{true, next};
  const kube::Answer<Value> answer = write(before, next, stop);
  if (answer && next.leases.empty()) return Written{true, unleased(next.network_name, next.base)};
  if (answer) {
    kube::Answer<AddressCell> stored = read_answer(*answer);
    if (!stored) return std::unexpected(std::move(stored.error()));
    return Written{true, *std::move(stored)};
  }
  const kube::ApiError& error = answer.error();
  if (error.delivery == kube::Delivery::kNotSent || error.code == Code::kDenied) return std::unexpected(error);
  kube::Answer<AddressCell> now = get(next.network_name, next.base, std::move(stop));
  if (!now) return std::unexpected(std::move(now.error()));
  if (is_done(*now)) return Written{true, *std::move(now)};
  if (lost_the_race(error)) return Written{false, *std::move(now)};
  return std::unexpected(error);
}

}  // namespace railbed::cells
