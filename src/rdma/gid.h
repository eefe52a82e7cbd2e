// SPDX-License-Identifier: Apache-2.0
// Selects an entry of a port's GID table by rule.
//
// Why: index 3 today is index 5 tomorrow: every address, VLAN and container adds and removes entries, and in a shared
// RDMA namespace the table also lists entries of other network namespaces, which fail when used. Fixed numbers in
// scripts break; rules do not.
//
// The rules, in this order of weight:
//   an entry's interface must be in this network namespace, and its address one of that interface's;
//   RoCE v2 before v1 (InfiniBand has one kind);
//   the exact address through which the peer is reached; its interface; its family;
//   IPv4-mapped before IPv6; link-local only if nothing else is left; the lowest index last.
// Threading: pure.
// Failure: kNotFound lists the entries and why each was skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/types.h"

namespace railbed::rdma {

enum class GidType { kInfiniBand, kRoceV1, kRoceV2 };
std::string_view name_of(GidType type);  // "IB", "RoCE v1", "RoCE v2"

struct GidEntry {
  Gid gid;
  int index = 0;
  int port = 1;
  GidType type = GidType::kRoceV2;
  IfIndex netdev;  // 0 when there is none (InfiniBand)
};

// An address of an interface of this network namespace.
struct LocalAddress {
  IfIndex index;
  IfName name;
  IpAddress address;
};
struct LocalInterface {
  IfIndex index;
  IfName name;
  std::vector<uint8_t> hardware_address;  // 6 bytes, or 20 for IPoIB
  bool is_up = false;
};
struct LocalNetwork {
  std::vector<LocalAddress> addresses;
  std::vector<LocalInterface> interfaces;
};

// The value of --gid-rule.
struct GidRule {
  std::optional<GidType> type;
  std::optional<IpFamily> family;
  std::optional<IpAddress> address;
  std::optional<IfName> netdev;
  std::optional<int> index;

  // "auto", or any of these joined by commas: v1, v2, ipv4, ipv6, address=10.1.0.5, netdev=net1, index=3.
  static Result<GidRule> parse(std::string_view text);
};

struct GidChoice {
  GidEntry entry;
  std::string reason;  // "GID 1, RoCE v2, 10.1.0.5 on net1, by rule"
  friend bool operator==(const GidChoice& a, const GidChoice& b) { return a.reason == b.reason; }
};

// `toward` is the local address of the connection to the peer.
Result<GidChoice> choose_gid(const std::vector<GidEntry>& table, const LocalNetwork& network, const GidRule& rule,
                             const std::optional<IpAddress>& toward);

// The IP address that a RoCE GID contains.
IpAddress address_of(const Gid& gid);
// Does the entry belong to an interface of this network namespace?
bool is_ours(const GidEntry& entry, const LocalNetwork& network);

}  // namespace railbed::rdma
