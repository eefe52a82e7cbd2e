// SPDX-License-Identifier: Apache-2.0
// IP addresses, prefixes and ranges of both families.
//
// Why: IPAM, GIDs and routes need arithmetic on addresses ("the next free one", "is it inside"), and messages
// need one canonical spelling (RFC 5952 for IPv6). Threading: plain values. Failure: parse functions return
// Code::kInvalid with a message that shows the text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/types.h"

namespace railbed {

enum class IpFamily : uint8_t { kV4 = 4, kV6 = 6 };

struct IpAddress {
  IpFamily family = IpFamily::kV4;
  std::array<uint8_t, 16> bytes{};  // network order; the first 4 for IPv4, the rest zero

  static Result<IpAddress> parse(std::string_view text);  // without a prefix length or a zone
  static IpAddress from_v4(uint32_t host_order);
  int bits() const { return family == IpFamily::kV4 ? 32 : 128; }
  int byte_count() const { return bits() / 8; }
  std::string to_string() const;

  // The address `steps` further on; nullopt when that leaves the family's space.
  std::optional<IpAddress> plus(uint64_t steps) const;
  // this - other; nullopt where other > this or the distance does not fit 64 bits.
  std::optional<uint64_t> minus(const IpAddress& other) const;
  Gid to_gid() const;  // an IPv4 address becomes a mapped one, as in RoCE

  // Only addresses of one family are ordered by value; all IPv4 come before all IPv6.
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// An address with a prefix length. The host part may be set ("10.0.0.5/24"): network() clears it.
struct IpPrefix {
  IpAddress address;
  int length = 0;

  static Result<IpPrefix> parse(std::string_view text);  // "10.0.0.0/24"; the length is required
  std::string to_string() const;
  IpAddress network() const;
  IpAddress last() const;  // the highest address: broadcast for IPv4
  bool contains(const IpAddress& other) const;
  bool overlaps(const IpPrefix& other) const;
  friend auto operator<=>(const IpPrefix&, const IpPrefix&) = default;
};

// Addresses first..last, both included, of one family.
struct IpRange {
  IpAddress first;
  IpAddress last;

  bool contains(const IpAddress& address) const;
  uint64_t size() const;  // saturates at 2^64-1
  std::string to_string() const;
  friend auto operator<=>(const IpRange&, const IpRange&) = default;
};

}  // namespace railbed
