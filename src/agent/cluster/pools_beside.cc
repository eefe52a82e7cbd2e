// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/pools_beside.h"

#include <algorithm>

#include "doc/members.h"
#include "ipam/pools.h"
#include "kube/kinds.h"

namespace railbed::agent {
namespace {

using api::CellOffsets;
using api::IpPool;
using api::IpPoolChange;
using doc::Value;

// Whereabouts writes a few times a second at most, by its cluster-wide lock.
constexpr int kPoolTries = 12;
constexpr kube::milliseconds kFirstPause{20};
constexpr kube::milliseconds kLongestPause{1000};

// Nothing where the kind is not there.
Result<std::vector<Value>> all_of(kube::Client& client, const kube::Resource& kind, const std::string& ns,
                                  std::stop_token stop) {
  kube::Answer<kube::ObjectList> found =
      client.list(kind, {.ns = ns, .labels = "", .fields = ""}, kube::trim_metadata, std::move(stop));
  if (found) return std::move(found->objects);
  if (found.error().code == Code::kNotFound) return std::vector<Value>();
  Error error = static_cast<const Error&>(found.error());
  error.context.push_back(fmt::format("{} of whereabouts", kind.plural));
  return fail(std::move(error));
}

bool is_of_network(const IpPool& pool, const std::string& network_name) {
  return pool.name == api::ip_pool_name(network_name, pool.range);
}

bool has_addresses_of(const IpPool& pool, const IpAddress& base) {
  const IpRange cell{base, base.plus(api::kCellSize - 1).value_or(base)};
  const IpRange all = pool.addresses();
  return all.first.family == base.family && !(all.last < cell.first) && !(cell.last < all.first);
}

Result<std::vector<PoolBeside>> node_slices(kube::Client& client, std::stop_token stop) {
  std::vector<PoolBeside> out;
  for (const Value& object : TRY(all_of(client, kube::kNodeSlicePools, "", std::move(stop)))) {
    const auto range = IpPrefix::parse(doc::text_at(object, "spec.range"));
    if (!range.has_value()) continue;  // whereabouts gives nothing of it, either
    out.push_back(
        {fmt::format("{} (node_slice_size)", kube::key_of(object).to_string()), {range->network(), range->last()}});
  }
  return out;
}

}  // namespace

Result<std::vector<PoolBeside>> pools_beside(kube::Client& client, Whereabouts how,
                                             const std::set<std::string>& pods_here, std::stop_token stop) {
  std::vector<PoolBeside> out = TRY(node_slices(client, stop));
  if (how == Whereabouts::kShare) return out;
  for (const Value& object : TRY(all_of(client, kube::kIpPools, "", stop))) {
    const Result<IpPool> pool = api::read_ip_pool(object);
    if (pool.has_value() && ipam::has_others(*pool, pods_here))
      out.push_back({fmt::format("{}/{}", pool->ns, pool->name), pool->addresses()});
  }
  return out;
}

Result<std::vector<PoolShare::Stored>*> PoolShare::listed(std::stop_token stop) {
  if (!pools_) {
    std::vector<Stored> found;
    for (Value& object : TRY(all_of(client_, kube::kIpPools, settings_.ns, std::move(stop)))) {
      Result<IpPool> pool = api::read_ip_pool(object);
      if (pool.has_value()) found.push_back({std::move(object), *std::move(pool)});
    }
    pools_ = std::move(found);
  }
  return &*pools_;
}

Result<std::vector<PoolShare::Stored*>> PoolShare::pools_of(const std::string& network_name, std::stop_token stop) {
  std::vector<Stored*> out;
  for (Stored& one : *TRY(listed(std::move(stop))))
    if (is_of_network(one.pool, network_name)) out.push_back(&one);
  return out;
}

Result<void> PoolShare::prepare(const std::string& network_name, const std::vector<api::IpamRange>& ranges,
                                std::stop_token stop) {
  std::set<std::string> there;
  for (const Stored* one : TRY(pools_of(network_name, stop))) there.insert(one->pool.name);
  for (const api::IpamRange& range : ranges) {
    const std::string name = api::ip_pool_name(network_name, range.subnet);
    if (!there.insert(name).second) continue;
    const auto made = client_.create(kube::kIpPools, api::new_ip_pool(settings_.ns, network_name, range.subnet), stop);
    look_again();
    if (!made && made.error().code != Code::kConflict) {
      Error error = static_cast<const Error&>(made.error());
      error.context.push_back(fmt::format("making IPPool {}/{}", settings_.ns, name));
      return fail(std::move(error));
    }
  }
  return {};
}

Result<CellOffsets> PoolShare::reserve(const std::string& network_name, const ipam::CellChoice& cell,
                                       std::stop_token stop, Leased leased) {
  const auto has_others = [&](const Stored* one) {
    return (ipam::of_others_in(one->pool, cell.base, settings_.holder) & cell.offsets) != 0;
  };
  std::vector<Stored*> pools = TRY(pools_of(network_name, stop));
  if (leased == Leased::kAfterIt && std::ranges::any_of(pools, has_others)) {  // they may have gone since
    look_again();
    pools = TRY(pools_of(network_name, stop));
  }
  std::erase_if(pools, [&](const Stored* one) { return !has_addresses_of(one->pool, cell.base); });
  const auto not_ours = [&](const Stored* one) {
    const CellOffsets others =
        leased == Leased::kAfterIt ? ipam::of_others_in(one->pool, cell.base, settings_.holder) : CellOffsets{0};
    return static_cast<CellOffsets>(ipam::given_in(one->pool, cell.base) | others);
  };
  CellOffsets given = 0;
  for (const Stored* one : pools) given |= not_ours(one);
  const ipam::CellChoice ours{cell.base, static_cast<CellOffsets>(cell.offsets & ~given)};
  const auto nothing = leased == Leased::kAfterIt ? NothingToDo::kIsLookedAtAgain : NothingToDo::kIsBelieved;
  for (Stored* one : pools) {
    const auto next = [&](const IpPool& pool) { return ipam::reserve_in(pool, ours, settings_.holder); };
    TRY(change(*one, next, nothing, stop));
    given |= not_ours(one);
  }
  const auto got = static_cast<CellOffsets>(ours.offsets & ~given);
  // One pool has given what another one has reserved for us in the meantime.
  if (got != ours.offsets) TRY(release(network_name, {cell.base, static_cast<CellOffsets>(ours.offsets & ~got)}, stop));
  return got;
}

Result<void> PoolShare::release(const std::string& network_name, const ipam::CellChoice& cell, std::stop_token stop) {
  for (Stored* one : TRY(pools_of(network_name, stop))) {
    const auto next = [&](const IpPool& pool) -> Result<IpPoolChange> {
      return ipam::release_in(pool, cell, settings_.holder);
    };
    TRY(change(*one, next, NothingToDo::kIsBelieved, stop));
  }
  return {};
}

Result<void> PoolShare::release_rest(const std::map<std::string, ipam::CellMap>& held, std::stop_token stop) {
  for (Stored& one : *TRY(listed(stop))) {
    const auto network = std::ranges::find_if(held, [&](const auto& it) { return is_of_network(one.pool, it.first); });
    const ipam::CellMap cells = network != held.end() ? network->second : ipam::CellMap();
    const auto next = [&](const IpPool& pool) -> Result<IpPoolChange> {
      return ipam::release_rest(pool, cells, settings_.holder);
    };
    TRY(change(one, next, NothingToDo::kIsBelieved, stop));
  }
  return {};
}

Result<void> PoolShare::change(Stored& stored, const Change& next, NothingToDo nothing, std::stop_token stop) {
  Result<void> done = write(stored, next, nothing, std::move(stop));
  if (!done.has_value()) look_again();  // and `stored` is gone
  return done;
}

Result<void> PoolShare::write(Stored& stored, const Change& next, NothingToDo nothing, std::stop_token stop) {
  const kube::ObjectKey key{stored.pool.ns, stored.pool.name};
  const auto read_again = [&]() -> Result<void> {
    kube::Answer<Value> now = client_.get(kube::kIpPools, key, stop);
    if (!now && now.error().code == Code::kNotFound)
      return fail(Code::kConflict, "IPPool {} was deleted", key.to_string());
    if (!now) return fail(static_cast<const Error&>(now.error()));
    stored.object = *std::move(now);
    stored.pool = TRY(api::read_ip_pool(stored.object));
    return {};
  };
  IpPoolChange wanted = TRY(next(stored.pool));
  if (wanted.empty() && nothing == NothingToDo::kIsLookedAtAgain) {
    TRY(read_again());
    wanted = TRY(next(stored.pool));
  }
  for (int tried = 0; !wanted.empty(); ++tried) {
    Value object = stored.object;
    api::apply_change(object, wanted);
    kube::Answer<Value> written = client_.update(kube::kIpPools, object, kube::Part::kObject, stop);
    if (written) {
      stored.object = *std::move(written);
      stored.pool = TRY(api::read_ip_pool(stored.object));
      return {};
    }
    Error error = static_cast<const Error&>(written.error());
    error.context.push_back("IPPool " + key.to_string());
    // A write whose answer was lost is seen in the pool as it is now.
    const bool again = error.code == Code::kConflict || written.error().delivery == kube::Delivery::kUnknown;
    if (!again || tried + 1 == kPoolTries) return fail(std::move(error));
    const auto pause = kube::backoff(tried, client_.clock().random(), kFirstPause, kLongestPause);
    if (!client_.clock().wait(pause, stop)) return fail(Code::kCanceled, "IPPool {}: stopping", key.to_string());
    TRY(read_again());
    wanted = TRY(next(stored.pool));
  }
  return {};
}

}  // namespace railbed::agent
