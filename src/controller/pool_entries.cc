// SPDX-License-Identifier: Apache-2.0
#include "controller/pool_entries.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/address_cell.h"
#include "api/ip_pool.h"
#include "ipam/pools.h"
#include "kube/kinds.h"

namespace railbed::controller {
namespace {

using api::AddressCell;
using api::CellOffsets;
using api::IpPool;
using doc::Value;
using ipam::CellMap;

struct Pool {
  Value object;
  IpPool pool;
  std::string network_name;
  CellMap entries;  // ours
};

// Those with entries of ours.
Result<std::vector<Pool>> pools_with_entries(kube::Client& client, std::stop_token stop) {
  std::vector<Pool> out;
  kube::Answer<kube::ObjectList> found = client.list(kube::kIpPools, {}, kube::trim_metadata, std::move(stop));
  if (!found) {
    const Code code = found.error().code;
    if (code == Code::kNotFound || code == Code::kDenied) return out;
    return fail(static_cast<const Error&>(found.error()));
  }
  for (Value& object : found->objects) {
    Result<IpPool> pool = api::read_ip_pool(object);
    if (!pool.has_value()) continue;
    std::optional<std::string> network_name = api::network_name_of(*pool);
    CellMap entries = ipam::entries_in(*pool);
    if (network_name && !entries.empty())
      out.push_back({std::move(object), *std::move(pool), *std::move(network_name), std::move(entries)});
  }
  return out;
}

// What is leased of a cell, and by which node. Of one that cannot be read this is unknown: all of it counts as leased.
struct LeasedCell {
  CellOffsets offsets = 0;
  std::vector<api::CellLease> leases;
};

LeasedCell leased_in(const Value& object) {
  Result<AddressCell> cell = api::read_address_cell(object);
  if (!cell.has_value()) return {.offsets = api::kWholeCell, .leases = {}};
  LeasedCell out{.offsets = 0, .leases = std::move(cell->leases)};
  for (const api::CellLease& lease : out.leases) out.offsets |= lease.offsets;
  return out;
}

using Leased = std::map<std::string, LeasedCell>;  // by the names of cells
Result<Leased> all_leased(kube::Client& client, std::stop_token stop) {
  const kube::ObjectList found =
      TRY(client.list(kube::kAddressCells, {}, kube::trim_metadata, std::move(stop)).result().context("AddressCells"));
  Leased out;
  for (const Value& object : found.objects) out[kube::key_of(object).name] = leased_in(object);
  return out;
}

Result<CellOffsets> leased_now(kube::Client& client, const std::string& cell, std::stop_token stop) {
  const kube::Answer<Value> object = client.get(kube::kAddressCells, {"", cell}, std::move(stop));
  if (!object && object.error().code == Code::kNotFound) return CellOffsets{0};
  if (!object) return fail(static_cast<const Error&>(object.error()));
  return leased_in(*object).offsets;
}

// False: somebody else has written it since it was read. The next look finds what is left to do.
Result<bool> store(kube::Client& client, Pool& pool, const api::IpPoolChange& change, std::stop_token stop) {
  if (change.empty()) return true;
  api::apply_change(pool.object, change);
  kube::Answer<Value> written = client.update(kube::kIpPools, pool.object, kube::Part::kObject, std::move(stop));
  if (written) {
    pool.object = *std::move(written);
    pool.pool = TRY(api::read_ip_pool(pool.object));
    return true;
  }
  const Code code = written.error().code;
  if (code == Code::kConflict || code == Code::kNotFound) return false;
  Error error = static_cast<const Error&>(written.error());
  error.context.push_back(fmt::format("IPPool {}/{}", pool.pool.ns, pool.pool.name));
  return fail(std::move(error));
}

Result<size_t> take(const PoolEntriesDependencies& deps, Pool pool, const Leased& leased, std::stop_token stop) {
  CellMap stale;
  api::IpPoolChange change;
  for (const auto& [base, offsets] : pool.entries) {
    const auto cell = leased.find(api::cell_name(pool.network_name, base));
    const auto left = static_cast<CellOffsets>(cell != leased.end() ? offsets & ~cell->second.offsets : offsets);
    if (left != 0) stale[base] = left;
    if (cell == leased.end()) continue;
    for (const api::CellLease& lease : cell->second.leases)
      change.put.merge(ipam::set_holder(pool.pool, {base, lease.offsets}, lease.holder).put);
  }
  change.put.merge(ipam::mark_ended(pool.pool, stale).put);
  if ((stale.empty() && change.empty()) || !deps.may_write()) return size_t{0};
  if (!TRY(store(deps.writer, pool, change, stop))) return size_t{0};
  for (auto& [base, offsets] : stale)
    offsets &= static_cast<CellOffsets>(~TRY(leased_now(deps.writer, api::cell_name(pool.network_name, base), stop)));
  change = ipam::drop_ended(pool.pool, stale);
  if (change.empty() || !deps.may_write()) return size_t{0};
  return TRY(store(deps.writer, pool, change, stop)) ? change.drop.size() : size_t{0};
}

}  // namespace

Result<size_t> take_stale_pool_entries(const PoolEntriesDependencies& deps, std::stop_token stop) {
  std::vector<Pool> pools = TRY(pools_with_entries(deps.reader, stop).context("IPPools of whereabouts"));
  if (pools.empty()) return size_t{0};
  const Leased leased = TRY(all_leased(deps.reader, stop));  // after the pools: an entry is there after its lease
  size_t gone = 0;
  std::optional<Error> error;
  for (Pool& pool : pools) {
    const Result<size_t> taken = take(deps, std::move(pool), leased, stop);
    if (taken.has_value())
      gone += *taken;
    else if (!error)
      error = taken.error();
  }
  if (error) return fail(*error);
  return gone;
}

}  // namespace railbed::controller
