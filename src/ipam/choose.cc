// SPDX-License-Identifier: Apache-2.0
#include "ipam/choose.h"

#include <algorithm>

namespace railbed::ipam {
namespace {

constexpr size_t kHoldersShown = 4;

using RangeSet = std::vector<api::IpamRange>;

using api::describe_ranges;
using api::RequestedAddress;

// In static mode requested addresses, which have a length then, replace the configured ones, as runtimeConfig.ips does
// in the original plugin.
std::vector<Assigned> assign_fixed(const api::IpamConfig& config, const std::vector<RequestedAddress>& requested) {
  std::vector<Assigned> all;
  for (const RequestedAddress& one : requested) {
    all.push_back({.address = {one.address, *one.length}});
    for (const auto& fixed : config.fixed)
      if (fixed.gateway.has_value() && all.back().address.contains(*fixed.gateway)) all.back().gateway = fixed.gateway;
  }
  if (!requested.empty()) return all;
  for (const auto& fixed : config.fixed) all.push_back({fixed.address, fixed.gateway, ""});
  return all;
}

class RangeAssigner {
 public:
  RangeAssigner(const api::IpamConfig& config, const std::string& network, const TakenView& taken, BlockSource& blocks,
                const Owner& owner)
      : config_(config),
        network_(network),
        owner_(owner),
        pool_(pool_of(config, network)),
        gateways_(gateways_of(config)),
        taken_(taken),
        blocks_(blocks) {}

  Result<std::vector<Assigned>> run(const std::vector<RequestedAddress>& requested) {
    chosen_.resize(config_.range_sets.size());
    for (const RequestedAddress& one : requested) TRY(give_requested(one));
    keep_own();
    for (size_t set = 0; set < chosen_.size(); ++set)
      if (!chosen_[set].has_value()) TRY(take_lowest(set));
    std::vector<Assigned> all;
    for (auto& one : chosen_) all.push_back(std::move(*one));
    return all;
  }

 private:
  void choose_address(size_t set, const IpAddress& address, const api::IpamRange& range) {
    chosen_[set] = Assigned{.address = {address, range.subnet.length}, .gateway = range.gateway, .pool = pool_};
    addresses_.push_back(address);
  }

  Result<void> give_requested(const RequestedAddress& requested) {
    std::vector<bool> has_one;
    for (const auto& one : chosen_) has_one.push_back(one.has_value());
    const api::RequestedPlace place = TRY(api::place_requested(config_, network_, requested, has_one));
    const Owner* holder = taken_.holder(requested.address);
    if (holder != nullptr && *holder != owner_)
      return fail(Code::kConflict, "network {}: the requested address {} belongs to pod {}, interface {}", network_,
                  requested.text, holder->pod, holder->interface);
    if (holder == nullptr) TRY(in_blocks(requested, *place.range));
    choose_address(place.set, requested.address, *place.range);
    return {};
  }

  Result<void> in_blocks(const RequestedAddress& requested, const api::IpamRange& range) {
    for (const IpRange& piece : TRY(blocks_.blocks(pool_, range)))
      if (piece.contains(requested.address)) return {};
    return fail(
        Error{.code = Code::kConflict,
              .message = fmt::format("network {}: the requested address {} is in no block of this node (pool {})",
                                     network_, requested.text, pool_),
              .hint = "another node may allocate it: request an address of this node's blocks, or schedule the pod to "
                      "the node that has it"});
  }

  void keep_own() {
    std::vector<IpAddress> own = taken_.held_by(owner_);
    if (own.empty()) return;
    for (size_t set = 0; set < chosen_.size(); ++set)
      for (const IpAddress& address : own)
        for (const api::IpamRange& range : config_.range_sets[set])
          if (!chosen_[set].has_value() && usable(address, range, gateways_) &&
              std::ranges::count(addresses_, address) == 0)
            choose_address(set, address, range);
  }

  // Two range sets of one network may overlap, so addresses chosen for earlier sets count as taken.
  Result<void> take_lowest(size_t set) {
    for (const api::IpamRange& range : config_.range_sets[set])
      for (const IpRange& piece : TRY(blocks_.blocks(pool_, range)))
        if (auto address = lowest_free(range, piece, gateways_, taken_, addresses_)) {
          choose_address(set, *address, range);
          return {};
        }
    return fail(TRY(exhausted(config_.range_sets[set])));
  }

  Result<Error> exhausted(const RangeSet& set) {
    std::vector<IpRange> parts;
    std::string blocks;
    bool whole = true;
    for (const api::IpamRange& range : set) {
      std::vector<IpRange> pieces = TRY(blocks_.blocks(pool_, range));
      whole = whole && pieces == std::vector<IpRange>{range.addresses};
      for (const IpRange& piece : pieces) blocks += fmt::format("{}{}", blocks.empty() ? "" : ", ", piece);
      std::ranges::copy(usable_parts(range, gateways_, pieces), std::back_inserter(parts));
    }
    TakenView::Held held = taken_.held_in(merged(std::move(parts)), kHoldersShown);
    for (const IpAddress& address : addresses_)
      if (std::ranges::any_of(set, [&](const auto& range) { return usable(address, range, gateways_); }) &&
          taken_.holder(address) == nullptr) {
        ++held.count;
        held.first.emplace_back(address, owner_);
      }
    std::ranges::sort(held.first);
    if (held.first.size() > kHoldersShown) held.first.resize(kHoldersShown);
    return whole ? range_exhausted(set, held) : blocks_exhausted(set, blocks, held);
  }

  static std::string holders(const TakenView::Held& held) {
    std::string text;
    for (const auto& [address, owner] : held.first)
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", address, owner.pod, owner.interface);
    if (held.count > held.first.size()) text += fmt::format(" and {} more", held.count - held.first.size());
    return text;
  }

  Error range_exhausted(const RangeSet& set, const TakenView::Held& held) const {
    if (held.count == 0)
      return {
          .code = Code::kExhausted,
          .message = fmt::format("network {} has no usable address: {} leaves none", network_, describe_ranges(set)),
          .hint = "network, broadcast, gateway and excluded addresses are never allocated; widen the range"};
    return {.code = Code::kExhausted,
            .message = fmt::format("network {} has no address left in {} (pool {}): all {} are in use: {}", network_,
                                   describe_ranges(set), pool_, held.count, holders(held)),
            .hint = "widen the range, or delete pods that hold addresses"};
  }

  Error blocks_exhausted(const RangeSet& set, const std::string& blocks, const TakenView::Held& held) const {
    std::string what = blocks.empty() ? "has no block" : "has no address left in its blocks " + blocks;
    return {.code = Code::kExhausted,
            .message =
                fmt::format("network {}: this node {} of {} (pool {}){}{}", network_, what, describe_ranges(set), pool_,
                            held.count == 0 ? "" : fmt::format(": all {} are in use: ", held.count), holders(held)),
            .hint = "add another block of the range to the node, or delete pods that hold addresses"};
  }

  const api::IpamConfig& config_;
  const std::string& network_;
  const Owner& owner_;
  std::string pool_;
  std::vector<IpAddress> gateways_;
  const TakenView& taken_;
  BlockSource& blocks_;
  std::vector<std::optional<Assigned>> chosen_;  // by range set
  std::vector<IpAddress> addresses_;             // the addresses in chosen_
};

Error no_dhcp_here(const std::string& network) {
  return {.code = Code::kUnsupported,
          .message = fmt::format("network {}: ipam type dhcp needs a lease client that outlives `railbed up`; it "
                                 "comes with the node agent",
                                 network),
          .hint = "use whereabouts, host-local or static"};
}

}  // namespace

Result<std::vector<Assigned>> choose(const api::IpamConfig& config, const std::string& network, const TakenView& taken,
                                     BlockSource& blocks, const std::vector<std::string>& requested,
                                     const Owner& owner) {
  if (config.type == api::IpamType::kDhcp) return fail(no_dhcp_here(network));
  TRY(api::can_give(config, network, requested));
  std::vector<RequestedAddress> wanted;
  for (const std::string& text : requested) wanted.push_back(TRY(api::parse_requested(text)));
  if (config.type == api::IpamType::kNone) return std::vector<Assigned>{};
  if (config.type == api::IpamType::kStatic) return assign_fixed(config, wanted);
  std::vector<Assigned> all = TRY(RangeAssigner(config, network, taken, blocks, owner).run(wanted));
  for (const auto& fixed : config.fixed) all.push_back({fixed.address, fixed.gateway, ""});
  return all;
}

}  // namespace railbed::ipam
