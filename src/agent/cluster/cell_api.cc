// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_api.h"

#include <algorithm>

namespace railbed::agent {
namespace {

using api::AddressCell;
using doc::Value;

AddressCell no_object(const std::string& network_name, const IpAddress& base) {
  return {.network_name = network_name, .base = base, .leases = {}, .uid = "", .resource_version = ""};
}

}  // namespace

Result<std::vector<AddressCell>> CellApi::list(const std::string& label, std::stop_token stop) {
  const kube::ObjectList found =
      TRY(client_.list(kAddressCells, {.ns = "", .labels = label, .fields = ""}, kube::trim_metadata, std::move(stop))
              .result());
  std::vector<AddressCell> out;
  for (const Value& object : found.objects)
    if (Result<AddressCell> cell = api::read_address_cell(object); cell.has_value()) out.push_back(*std::move(cell));
  return out;
}

Result<std::vector<AddressCell>> CellApi::held_by(const std::string& system_uuid, std::stop_token stop) {
  std::vector<AddressCell> all = TRY(list(api::cell_holder_label(system_uuid), std::move(stop)));
  std::erase_if(all, [&](const AddressCell& cell) {
    return std::ranges::none_of(cell.leases,
                                [&](const auto& lease) { return lease.holder.system_uuid == system_uuid; });
  });
  return all;
}

Result<std::vector<AddressCell>> CellApi::of_network(const std::string& network_name, std::stop_token stop) {
  std::vector<AddressCell> all = TRY(list(api::cell_network_label(network_name), std::move(stop)));
  std::erase_if(all, [&](const AddressCell& cell) { return cell.network_name != network_name; });
  return all;
}

Result<AddressCell> CellApi::get(const std::string& network_name, const IpAddress& base, std::stop_token stop) {
  const kube::Answer<Value> object =
      client_.get(kAddressCells, {"", api::cell_name(network_name, base)}, std::move(stop));
  if (!object && object.error().code == Code::kNotFound) return no_object(network_name, base);
  if (!object) return fail(static_cast<const Error&>(object.error()));
  Result<AddressCell> cell = api::read_address_cell(*object);
  if (cell.has_value() && cell->network_name == network_name) return cell;
  AddressCell unknown = no_object(network_name, base);
  unknown.uid = kube::uid_of(*object);
  unknown.resource_version = kube::resource_version(*object);
  unknown.leases.push_back({.holder = {"(unknown: the object cannot be read)", "", ""},
                            .claim = "",
                            .offsets = api::kWholeCell,
                            .quiet_seconds = 0,
                            .gone_seconds = 0});
  return unknown;
}

Result<CellApi::Written> CellApi::store(const AddressCell& before, const AddressCell& next, const std::string& claim,
                                        std::stop_token stop) {
  const auto write = [&]() -> kube::Answer<Value> {
    const Value object = api::to_value(next);
    if (next.uid.empty()) return client_.create(kAddressCells, object, stop);
    if (!next.leases.empty()) return client_.update(kAddressCells, object, kube::Part::kObject, stop);
    const kube::Answer<void> removed =
        client_.remove(kAddressCells, kube::key_of(object),
                       {.uid = before.uid, .resource_version = before.resource_version, .grace_seconds = {}}, stop);
    if (!removed) return std::unexpected(removed.error());
    return Value();
  };
  if (next.leases.empty() && before.uid.empty()) return Written{true, next};
  const kube::Answer<Value> answer = write();
  if (answer && next.leases.empty()) return Written{true, no_object(next.network_name, next.base)};
  if (answer) return Written{true, TRY(api::read_address_cell(*answer))};
  const kube::ApiError& error = answer.error();
  if (error.delivery == kube::Delivery::kNotSent || error.code == Code::kDenied)
    return fail(static_cast<const Error&>(error));
  AddressCell now = TRY(get(next.network_name, next.base, std::move(stop)));
  const auto is_ours = [&](const api::CellLease& lease) { return lease.claim == claim; };
  if (next.leases.empty() ? now.uid != before.uid : std::ranges::any_of(now.leases, is_ours))
    return Written{true, std::move(now)};
  // Another writer was first. Any other failure would come again, or is a write that may still be carried out later.
  const bool refused = error.delivery == kube::Delivery::kAnswered && error.status < 500;
  if (refused && (error.code == Code::kConflict || error.code == Code::kNotFound))
    return Written{false, std::move(now)};
  return fail(static_cast<const Error&>(error));
}

}  // namespace railbed::agent
