// SPDX-License-Identifier: Apache-2.0
#include "ipam/assign.h"

#include <algorithm>

#include "ipam/range_search.h"

namespace railbed::ipam {
namespace {

constexpr int kHoldersShown = 4;

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

Error exhausted(const RangeSet& set, const std::string& network, const std::string& pool,
                const std::map<IpAddress, Owner>& taken, const std::vector<IpAddress>& gateways) {
  std::string holders;
  size_t held = 0;
  for (const auto& [address, owner] : taken) {
    bool here = std::ranges::any_of(
        set, [&](const api::IpamRange& range) { return usable(address, range, gateways); });
    if (!here) continue;
    if (++held <= kHoldersShown)
      holders += fmt::format("{}{} {} {}", held > 1 ? ", " : "", address, owner.pod, owner.interface);
  }
  if (held > kHoldersShown) holders += fmt::format(" and {} more", held - kHoldersShown);
  Error error{.code = Code::kExhausted};
  if (held == 0) {
    error.message = fmt::format("network {} has no address to give: {} leaves none", network, describe(set));
    error.hint = "network, broadcast, gateway and excluded addresses are never handed out: widen the range";
  } else {
    error.message = fmt::format("network {} has no address left in {} (pool {}): all {} are held: {}",
                                network, describe(set), pool, held, holders);
    error.hint = "widen the range, or delete pods that hold addresses";
  }
  return error;
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

// Static: requested addresses replace those of the block, as runtimeConfig.ips does for the original.
Result<std::vector<Assigned>> assign_fixed(const api::IpamConfig& config, const std::string& network,
                                           const std::vector<RequestedAddress>& requested) {
  std::vector<Assigned> all;
  for (const RequestedAddress& one : requested) {
    if (!one.length.has_value())
      return fail(Code::kInvalid, "network {}: the requested address {} needs a prefix length ({}/24)",
                  network, one.text, one.text);
    all.push_back({.address = {one.address, *one.length}});
    for (const auto& fixed : config.fixed)
      if (fixed.gateway.has_value() && all.back().address.contains(*fixed.gateway))
        all.back().gateway = fixed.gateway;
  }
  if (!requested.empty()) return all;
  for (const auto& fixed : config.fixed) all.push_back({fixed.address, fixed.gateway, ""});
  if (all.empty() && config.type == api::IpamType::kStatic)
    return fail(Code::kInvalid, "network {}: ipam type static has no addresses, and the pod asks for none",
                network);
  return all;
}

class RangeAssigner {
 public:
  RangeAssigner(const api::IpamConfig& config, const std::string& network, const Taken& taken,
                const Owner& owner)
      : config_(config),
        network_(network),
        owner_(owner),
        pool_(pool_of(config, network)),
        gateways_(gateways_of(config)) {
    static const std::map<IpAddress, Owner> kNone;
    auto found = taken.find(pool_);
    taken_ = found == taken.end() ? &kNone : &found->second;
  }

  Result<std::vector<Assigned>> run(const std::vector<RequestedAddress>& requested) {
    chosen_.resize(config_.range_sets.size());
    for (const RequestedAddress& one : requested) TRY(place_requested(one));
    for (size_t set = 0; set < chosen_.size(); ++set)
      if (!chosen_[set].has_value()) keep_own(set);
    for (size_t set = 0; set < chosen_.size(); ++set)
      if (!chosen_[set].has_value()) TRY(take_lowest(set));
    std::vector<Assigned> all;
    for (auto& one : chosen_) all.push_back(std::move(*one));
    return all;
  }

 private:
  void choose(size_t set, const IpAddress& address, const api::IpamRange& range) {
    chosen_[set] =
        Assigned{.address = {address, range.subnet.length}, .gateway = range.gateway, .pool = pool_};
  }

  bool chosen_elsewhere(const IpAddress& address) const {
    return std::ranges::any_of(
        chosen_, [&](const auto& one) { return one.has_value() && one->address.address == address; });
  }

  Result<void> place_requested(const RequestedAddress& requested) {
    for (size_t set = 0; set < config_.range_sets.size(); ++set)
      for (const api::IpamRange& range : config_.range_sets[set]) {
        if (chosen_[set].has_value() || !usable(requested.address, range, gateways_)) continue;
        if (requested.length.has_value() && *requested.length != range.subnet.length)
          return fail(Code::kInvalid,
                      "network {}: the requested address {} has another prefix length than {}", network_,
                      requested.text, range.subnet);
        auto holder = taken_->find(requested.address);
        if (holder != taken_->end() && holder->second != owner_)
          return fail(Code::kConflict, "network {}: the requested address {} belongs to pod {}, interface {}",
                      network_, requested.text, holder->second.pod, holder->second.interface);
        choose(set, requested.address, range);
        return {};
      }
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("network {}: the requested address {} cannot be given from {}", network_,
                                     requested.text, describe(config_.range_sets)),
              .hint = "ask for an address inside that is no gateway and not excluded, one per range set"});
  }

  void keep_own(size_t set) {
    for (const auto& [address, owner] : *taken_)
      for (const api::IpamRange& range : config_.range_sets[set])
        if (owner == owner_ && usable(address, range, gateways_) && !chosen_elsewhere(address))
          return choose(set, address, range);
  }

  Result<void> take_lowest(size_t set) {
    // Two sets of one network may overlap: what an earlier set chose is taken, too.
    std::map<IpAddress, Owner> with_chosen;
    const std::map<IpAddress, Owner>* taken = taken_;
    if (std::ranges::any_of(chosen_, [](const auto& one) { return one.has_value(); })) {
      with_chosen = *taken_;
      for (const auto& one : chosen_)
        if (one.has_value()) with_chosen.emplace(one->address.address, owner_);
      taken = &with_chosen;
    }
    for (const api::IpamRange& range : config_.range_sets[set])
      if (auto address = lowest_free(range, gateways_, *taken)) {
        choose(set, *address, range);
        return {};
      }
    return fail(exhausted(config_.range_sets[set], network_, pool_, *taken, gateways_));
  }

  const api::IpamConfig& config_;
  const std::string& network_;
  const Owner& owner_;
  std::string pool_;
  std::vector<IpAddress> gateways_;
  const std::map<IpAddress, Owner>* taken_;
  std::vector<std::optional<Assigned>> chosen_;  // by range set
};

}  // namespace

Taken taken_by(const std::vector<state::AddressLease>& leases) {
  Taken taken;
  for (const state::AddressLease& lease : leases)
    taken[lease.pool].emplace(lease.address, Owner{lease.pod, lease.interface});
  return taken;
}

std::string pool_of(const api::IpamConfig& config, const std::string& network) {
  switch (config.type) {
    case api::IpamType::kHostLocal:
      return "host-local:" + network;
    case api::IpamType::kWhereabouts:
      return config.network_name.empty() ? "whereabouts" : "whereabouts:" + config.network_name;
    default:
      return "";
  }
}

Result<std::vector<Assigned>> assign(const api::IpamConfig& config, const std::string& network,
                                     const Taken& taken, const std::vector<std::string>& requested,
                                     const Owner& owner) {
  std::vector<RequestedAddress> wanted;
  for (const std::string& text : requested)
    wanted.push_back(TRY(parse_requested(text).context("network {}: a requested address", network)));
  switch (config.type) {
    case api::IpamType::kNone:
      if (!wanted.empty())
        return fail(
            Error{.code = Code::kInvalid,
                  .message = fmt::format("network {} has no ipam block, so that the requested address {} "
                                         "cannot be given",
                                         network, wanted.front().text),
                  .hint = "give the network an ipam block of type static"});
      return std::vector<Assigned>{};
    case api::IpamType::kDhcp:
      return fail(
          Error{.code = Code::kUnsupported,
                .message = fmt::format("network {}: ipam type dhcp needs a lease client that outlives "
                                       "`railbed up`; it comes with the node agent",
                                       network),
                .hint = "use whereabouts, host-local or static"});
    case api::IpamType::kStatic:
      return assign_fixed(config, network, wanted);
    case api::IpamType::kHostLocal:
    case api::IpamType::kWhereabouts:
      break;
  }
  std::vector<Assigned> all = TRY(RangeAssigner(config, network, taken, owner).run(wanted));
  for (const auto& fixed : config.fixed) all.push_back({fixed.address, fixed.gateway, ""});
  return all;
}

}  // namespace railbed::ipam
