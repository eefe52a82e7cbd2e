// SPDX-License-Identifier: Apache-2.0
#include "ipam/choose.h"

#include <algorithm>

namespace railbed::ipam {
namespace {

constexpr size_t kHoldersShown = 4;

using RangeSet = std::vector<api::IpamRange>;

std::string describe(const RangeSet& set) {
  std::string text;
  for (const api::IpamRange& range : set)
    text += fmt::format("{}{} of {}{}", text.empty() ? "" : ", ", range.addresses,
                        IpPrefix{range.subnet.network(), range.subnet.length},
                        range.excluded.empty() ? "" : " with exclusions");
  return text;
}

std::string describe(const std::vector<RangeSet>& sets) {
  std::string text;
  for (const RangeSet& set : sets) text += (text.empty() ? "" : "; ") + describe(set);
  return text;
}

struct RequestedAddress {
  IpAddress address;
  std::optional<int> length;
  std::string text;
};

Result<RequestedAddress> parse_requested(const std::string& text) {
  if (text.find('/') == std::string::npos)
    return RequestedAddress{.address = TRY(IpAddress::parse(text)), .text = text};
  IpPrefix prefix = TRY(IpPrefix::parse(text));
  return RequestedAddress{prefix.address, prefix.length, text};
}

// In static mode requested addresses replace the configured ones, as runtimeConfig.ips does in the original plugin.
Result<std::vector<Assigned>> assign_fixed(const api::IpamConfig& config, const std::string& network,
                                           const std::vector<RequestedAddress>& requested) {
  std::vector<Assigned> all;
  for (const RequestedAddress& one : requested) {
    if (!one.length.has_value())
      return fail(Code::kInvalid, "network {}: the requested address {} needs a prefix length ({}/24)", network,
                  one.text, one.text);
    all.push_back({.address = {one.address, *one.length}});
    for (const auto& fixed : config.fixed)
      if (fixed.gateway.has_value() && all.back().address.contains(*fixed.gateway)) all.back().gateway = fixed.gateway;
  }
  if (!requested.empty()) return all;
  for (const auto& fixed : config.fixed) all.push_back({fixed.address, fixed.gateway, ""});
  if (all.empty() && config.type == api::IpamType::kStatic)
    return fail(Code::kInvalid, "network {}: ipam type static has no addresses, and the pod asks for none", network);
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
    for (const RequestedAddress& one : requested) TRY(place_requested(one));
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

  Result<void> place_requested(const RequestedAddress& requested) {
    for (size_t set = 0; set < config_.range_sets.size(); ++set)
      for (const api::IpamRange& range : config_.range_sets[set]) {
        if (chosen_[set].has_value() || !usable(requested.address, range, gateways_)) continue;
        if (requested.length.has_value() && *requested.length != range.subnet.length)
          return fail(Code::kInvalid, "network {}: the requested address {} has another prefix length than {}",
                      network_, requested.text, range.subnet);
        const Owner* holder = taken_.holder(requested.address);
        if (holder != nullptr && *holder != owner_)
          return fail(Code::kConflict, "network {}: the requested address {} belongs to pod {}, interface {}", network_,
                      requested.text, holder->pod, holder->interface);
        if (holder == nullptr) TRY(in_blocks(requested, range));
        choose_address(set, requested.address, range);
        return {};
      }
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("network {}: the requested address {} cannot be given from {}", network_,
                                             requested.text, describe(config_.range_sets)),
                      .hint = "ask for an address inside that is no gateway and not excluded, one per range set"});
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
      return {.code = Code::kExhausted,
              .message = fmt::format("network {} has no usable address: {} leaves none", network_, describe(set)),
              .hint = "network, broadcast, gateway and excluded addresses are never allocated; widen the range"};
    return {.code = Code::kExhausted,
            .message = fmt::format("network {} has no address left in {} (pool {}): all {} are in use: {}", network_,
                                   describe(set), pool_, held.count, holders(held)),
            .hint = "widen the range, or delete pods that hold addresses"};
  }

  Error blocks_exhausted(const RangeSet& set, const std::string& blocks, const TakenView::Held& held) const {
    std::string what = blocks.empty() ? "has no block" : "has no address left in its blocks " + blocks;
    return {
        .code = Code::kExhausted,
        .message = fmt::format("network {}: this node {} of {} (pool {}){}{}", network_, what, describe(set), pool_,
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
  std::vector<RequestedAddress> wanted;
  for (const std::string& text : requested)
    wanted.push_back(TRY(parse_requested(text).context("network {}: a requested address", network)));
  switch (config.type) {
    case api::IpamType::kNone:
      if (!wanted.empty())
        return fail(Error{.code = Code::kInvalid,
                          .message = fmt::format("network {} has no ipam block, so that the requested "
                                                 "address {} cannot be given",
                                                 network, wanted.front().text),
                          .hint = "give the network an ipam block of type static"});
      return std::vector<Assigned>{};
    case api::IpamType::kDhcp:
      return fail(no_dhcp_here(network));
    case api::IpamType::kStatic:
      return assign_fixed(config, network, wanted);
    case api::IpamType::kHostLocal:
    case api::IpamType::kWhereabouts:
      break;
  }
  std::vector<Assigned> all = TRY(RangeAssigner(config, network, taken, blocks, owner).run(wanted));
  for (const auto& fixed : config.fixed) all.push_back({fixed.address, fixed.gateway, ""});
  return all;
}

}  // namespace railbed::ipam
