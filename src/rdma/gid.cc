// SPDX-License-Identifier: Apache-2.0
#include "rdma/gid.h"

#include <algorithm>
#include <cstring>

#include "base/number.h"

namespace railbed::rdma {
namespace {

constexpr int kMaxGidIndex = 255;  // ibv_global_route.sgid_index has 8 bits

const LocalInterface* find_interface(const LocalNetwork& network, IfIndex index) {
  for (const LocalInterface& interface : network.interfaces)
    if (interface.index == index) return &interface;
  return nullptr;
}

// fe80:: with the EUI-64 of the interface's MAC: a RoCE port has this entry even when IPv6 is off.
bool is_default_gid_of(const Gid& gid, const LocalInterface& interface) {
  if (interface.hardware_address.size() != 6) return false;
  const auto& mac = interface.hardware_address;
  const uint8_t id[] = {static_cast<uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  return gid.is_link_local() && std::memcmp(gid.bytes.data() + 8, id, 8) == 0;
}

std::string describe(const GidEntry& entry, const LocalNetwork& network) {
  std::string text = fmt::format("GID {}, {}, ", entry.index, name_of(entry.type));
  if (entry.type == GidType::kInfiniBand) return text + entry.gid.to_string();
  text += address_of(entry.gid).to_string();
  const LocalInterface* interface = find_interface(network, entry.netdev);
  if (interface != nullptr) text += fmt::format(" on {}", interface->name);
  return text;
}

// The reason why the entry cannot be used; "" when it can.
std::string objection(const GidEntry& entry, const LocalNetwork& network, const GidRule& rule) {
  if (entry.gid.is_zero()) return "empty";
  if (!is_ours(entry, network)) return "belongs to another network namespace";
  const LocalInterface* interface = find_interface(network, entry.netdev);
  if (entry.index > kMaxGidIndex) return fmt::format("verbs cannot name an index above {}", kMaxGidIndex);
  if (rule.index && *rule.index != entry.index) return fmt::format("rule requires index {}", *rule.index);
  if (rule.type && *rule.type != entry.type) return fmt::format("rule requires {}", name_of(*rule.type));
  if (rule.address && *rule.address != address_of(entry.gid)) return fmt::format("rule requires {}", *rule.address);
  if (rule.netdev && (interface == nullptr || interface->name != *rule.netdev))
    return fmt::format("rule requires {}", *rule.netdev);
  if (rule.family && *rule.family != address_of(entry.gid).family)
    return fmt::format("rule requires IPv{}", static_cast<int>(*rule.family));
  if (interface != nullptr && !interface->is_up) return fmt::format("{} is down", interface->name);
  return "";
}

// The weights are powers of two, so that each rule outranks all rules below it together.
int score(const GidEntry& entry, const LocalNetwork& network, const std::optional<IpAddress>& toward) {
  int points = 0;
  if (entry.type == GidType::kRoceV2) points += 64;
  if (!entry.gid.is_link_local()) points += 1;
  if (entry.gid.is_mapped_ipv4()) points += 2;
  if (toward) {
    const IpAddress address = address_of(entry.gid);
    if (address == *toward) points += 32;
    if (address.family == toward->family) points += 4;
    for (const LocalAddress& local : network.addresses)
      if (local.address == *toward && local.index == entry.netdev) points += 16;
  }
  // Comes last: a link-local GID cannot reach a peer with a routed address.
  if (entry.gid.is_link_local() && !(toward && toward->to_gid().is_link_local())) points -= 128;
  return points;
}

Result<int> parse_index(std::string_view text) {
  const int value = whole_number<int>(text).value_or(-1);
  if (value < 0 || value > kMaxGidIndex)
    return fail(Code::kInvalid, "--gid-rule: index={} is not a GID index, which is 0 to {}", text, kMaxGidIndex);
  return value;
}

Result<void> parse_part(std::string_view part, GidRule& rule) {
  const auto value_of = [&](std::string_view key) { return part.substr(key.size()); };
  if (part == "v1") {
    rule.type = GidType::kRoceV1;
  } else if (part == "v2") {
    rule.type = GidType::kRoceV2;
  } else if (part == "ipv4") {
    rule.family = IpFamily::kV4;
  } else if (part == "ipv6") {
    rule.family = IpFamily::kV6;
  } else if (part.starts_with("address=")) {
    rule.address = TRY(IpAddress::parse(value_of("address=")).context("--gid-rule"));
  } else if (part.starts_with("netdev=")) {
    rule.netdev = TRY(IfName::parse(value_of("netdev=")).context("--gid-rule"));
  } else if (part.starts_with("index=")) {
    rule.index = TRY(parse_index(value_of("index=")));
  } else if (part != "auto") {
    return fail(Code::kInvalid,
                "--gid-rule: \"{}\" is none of auto, v1, v2, ipv4, ipv6, address=, netdev=, index=", part);
  }
  return {};
}

}  // namespace

std::string_view name_of(GidType type) {
  switch (type) {
    case GidType::kInfiniBand:
      return "IB";
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kRoceV2:
      return "RoCE v2";
  }
  return "?";
}

IpAddress address_of(const Gid& gid) {
  IpAddress address;
  if (gid.is_mapped_ipv4()) {
    std::copy(gid.bytes.begin() + 12, gid.bytes.end(), address.bytes.begin());
    return address;
  }
  address.family = IpFamily::kV6;
  address.bytes = gid.bytes;
  return address;
}

bool is_ours(const GidEntry& entry, const LocalNetwork& network) {
  if (entry.type == GidType::kInfiniBand) return true;
  // Interface numbers repeat in other namespaces, so the address must match, too.
  const LocalInterface* interface = find_interface(network, entry.netdev);
  if (interface == nullptr) return false;
  if (is_default_gid_of(entry.gid, *interface)) return true;
  return std::any_of(network.addresses.begin(), network.addresses.end(), [&](const LocalAddress& local) {
    return local.index == entry.netdev && local.address == address_of(entry.gid);
  });
}

Result<GidRule> GidRule::parse(std::string_view text) {
  GidRule rule;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    TRY(parse_part(text.substr(0, comma), rule));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return rule;
}

Result<GidChoice> choose_gid(const std::vector<GidEntry>& table, const LocalNetwork& network, const GidRule& rule,
                             const std::optional<IpAddress>& toward) {
  const GidEntry* best = nullptr;
  int best_score = 0;
  std::string passed_over;
  for (const GidEntry& entry : table) {
    const std::string why_not = objection(entry, network, rule);
    if (!why_not.empty()) {
      passed_over += fmt::format("{}{}: {}", passed_over.empty() ? "" : "; ", describe(entry, network), why_not);
      continue;
    }
    const int points = score(entry, network, toward);
    if (best == nullptr || points > best_score) {
      best = &entry;
      best_score = points;
    }
  }
  if (best == nullptr) {
    if (table.empty()) passed_over = "the table is empty";
    Error error{.code = Code::kNotFound,
                .sys_errno = 0,
                .message = fmt::format("no GID can be used ({})", passed_over),
                .context = {},
                .hint =
                    "a RoCE port gets its GIDs from the addresses of its interface: give the interface an address and "
                    "bring it up, or relax --gid-rule"};
    return fail(std::move(error));
  }
  return GidChoice{.entry = *best, .reason = describe(*best, network) + (rule.index ? ", as configured" : ", by rule")};
}

}  // namespace railbed::rdma
