// SPDX-License-Identifier: Apache-2.0
#include "ipam/allocator.h"

#include <tuple>

#include "ipam/address_index.h"
#include "ipam/choose.h"

namespace railbed::ipam {
namespace {

// Ranges come from configurations and from requests; this bounds the work for figures that only people read.
constexpr size_t kMostRangesCounted = 1024;

uint64_t size_of(const std::vector<IpRange>& ranges) {
  uint64_t size = 0;
  for (const IpRange& range : ranges) size = size + range.size() < size ? UINT64_MAX : size + range.size();
  return size;
}

}  // namespace

struct Allocator::Impl {
  explicit Impl(BlockSource& source) : blocks(source) {}

  struct SeenRange {
    api::IpamRange range;
    std::vector<IpAddress> gateways;
  };
  using RangeKey = std::tuple<std::string, IpRange, int>;

  void remember(const std::string& pool, const api::IpamConfig& config) {
    for (const auto& set : config.range_sets)
      for (const api::IpamRange& range : set) {
        RangeKey key{pool, range.addresses, range.subnet.length};
        auto found = seen.find(key);
        if (found != seen.end() && found->second.range == range) continue;
        if (found == seen.end() && seen.size() >= kMostRangesCounted) continue;
        seen.insert_or_assign(std::move(key), SeenRange{range, gateways_of(config)});
      }
  }

  // Takes what is in use in the pool's ranges. An address with a lease there belongs to that lease.
  void take_in_use(const std::string& pool, const api::IpamConfig& config) {
    if (in_use.empty()) return;
    for (const auto& set : config.range_sets)
      for (const api::IpamRange& range : set)
        for (auto one = in_use.lower_bound(range.addresses.first);
             one != in_use.end() && one->first <= range.addresses.last; ++one)
          if (index.pool(pool).holder(one->first) == nullptr) index.take(pool, one->first, one->second);
  }

  BlockSource& blocks;
  AddressIndex index;
  std::map<IpAddress, Owner> in_use;
  std::map<RangeKey, SeenRange> seen;
};

Allocator::Allocator(BlockSource& blocks) : impl_(std::make_unique<Impl>(blocks)) {}
Allocator::~Allocator() = default;

void Allocator::load(const std::vector<state::AddressLease>& leases) {
  impl_->index.clear();
  ++loads_;
  for (const state::AddressLease& lease : leases)
    impl_->index.take(lease.pool, lease.address, {lease.pod, lease.interface});
}

Result<std::vector<Assigned>> Allocator::allocate(const api::IpamConfig& config, const std::string& network,
                                                  const std::vector<std::string>& requested, const Owner& owner) {
  std::string pool = pool_of(config, network);
  if (!pool.empty()) {
    if (refused_.has_value()) return fail(*refused_);
    impl_->remember(pool, config);
    impl_->take_in_use(pool, config);
  }
  std::vector<Assigned> chosen = TRY(choose(config, network, impl_->index.pool(pool), impl_->blocks, requested, owner));
  for (const Assigned& one : chosen)
    if (!one.pool.empty()) impl_->index.take(one.pool, one.address.address, owner);
  return chosen;
}

void Allocator::set_in_use(std::map<IpAddress, Owner> in_use) {
  for (const auto& [address, owner] : impl_->in_use)
    if (auto still = in_use.find(address); still == in_use.end() || still->second != owner) impl_->index.release(owner);
  impl_->in_use = std::move(in_use);
}

void Allocator::release(const Owner& owner) {
  impl_->index.release(owner);
}

void Allocator::take(const std::string& pool, const IpAddress& address, const Owner& owner) {
  impl_->index.take(pool, address, owner);
}

void Allocator::give_back(const std::string& pool, const IpAddress& address) {
  impl_->index.give_back(pool, address);
}

bool Allocator::is_taken(const std::string& pool, const IpAddress& address) const {
  return impl_->index.pool(pool).holder(address) != nullptr || impl_->in_use.contains(address);
}

std::optional<Owner> Allocator::holder(const std::string& pool, const IpAddress& address) const {
  const Owner* owner = impl_->index.pool(pool).holder(address);
  return owner == nullptr ? std::nullopt : std::optional(*owner);
}

std::vector<Allocator::Usage> Allocator::usage() const {
  std::vector<Usage> all;
  for (const auto& [name, taken] : impl_->index.pools()) {
    if (name.empty()) continue;
    std::vector<IpRange> parts;
    for (const auto& [key, seen] : impl_->seen) {
      if (std::get<0>(key) != name) continue;
      Result<std::vector<IpRange>> pieces = impl_->blocks.blocks(name, seen.range);
      if (!pieces.has_value()) continue;
      for (const IpRange& part : usable_parts(seen.range, seen.gateways, *pieces)) parts.push_back(part);
    }
    parts = merged(std::move(parts));
    uint64_t size = size_of(parts);
    all.push_back(
        {.pool = name, .taken = taken.size(), .free = size == UINT64_MAX ? size : size - taken.taken_of(parts)});
  }
  return all;
}

}  // namespace railbed::ipam
