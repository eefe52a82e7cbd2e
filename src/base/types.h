// SPDX-License-Identifier: Apache-2.0
// railbed's strong types: values that must not be confused with a bare int or string at a module boundary.
//
// Why: a PCI address, a GUID and an interface name are all plain text in manifests, sysfs and netlink; each has its own
// spellings and pitfalls (32-bit PCI domains, GUIDs without leading zeros, 15-byte names). They are parsed once, here,
// and printed in one canonical form.
//
// Threading: plain values.
// Failure: parse functions return Code::kInvalid with a message that shows the text and an example of a valid one.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed {

// A PCI function: domain:bus:device.function. The domain can have 32 bits (VMD, some clouds and GB200 use them).
struct PciAddress {
  uint32_t domain = 0;
  uint8_t bus = 0;
  uint8_t device = 0;    // 0 to 31
  uint8_t function = 0;  // 0 to 7

  // "0000:3c:00.0", or "3c:00.0" for domain 0. Hexadecimal digits in either case.
  static Result<PciAddress> parse(std::string_view text);
  // The function `offset` routing ids further, as SR-IOV counts (PCIe 9.2.1.2): VF n is at first_offset + n *
  // stride.
  PciAddress plus(uint32_t offset) const;
  std::string to_string() const;  // always with the domain, four digits or more
  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

// An EUI-64, as IBTA uses it for nodes and ports.
struct Guid {
  uint64_t value = 0;

  // "0c42:a103:0065:1234" (sysfs; leading zeros may be left out), "0x0c42a10300651234", "0c42a10300651234",
  // or eight pairs "0c:42:a1:03:00:65:12:34" (ip link, CNI).
  static Result<Guid> parse(std::string_view text);
  std::string to_string() const;  // "0c42:a103:0065:1234"
  std::string to_pairs() const;   // "0c:42:a1:03:00:65:12:34"
  bool is_zero() const { return value == 0; }
  friend auto operator<=>(const Guid&, const Guid&) = default;
};

struct MacAddress {
  std::array<uint8_t, 6> bytes{};

  static Result<MacAddress> parse(std::string_view text);  // "02:00:00:00:00:01", also with '-'
  std::string to_string() const;                           // lower case, with ':'
  bool is_zero() const { return *this == MacAddress{}; }
  friend auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

// A 16-byte GID: subnet prefix and port GUID on InfiniBand, an IPv6 (or mapped IPv4) address on RoCE.
struct Gid {
  std::array<uint8_t, 16> bytes{};

  static Result<Gid> parse(std::string_view text);  // eight groups of four digits, as sysfs prints it
  std::string to_string() const;                    // eight groups of four digits
  uint64_t subnet_prefix() const;
  Guid interface_id() const;
  bool is_zero() const { return *this == Gid{}; }
  bool is_link_local() const;   // fe80::/10
  bool is_mapped_ipv4() const;  // ::ffff:a.b.c.d
  friend auto operator<=>(const Gid&, const Gid&) = default;
};

// The name of a network interface: 1 to 15 bytes, none of '/', ':', '%' or white space, and not "." or "..".
struct IfName {
  std::string value;

  static Result<IfName> parse(std::string_view text);
  std::string to_string() const { return value; }
  bool empty() const { return value.empty(); }
  friend auto operator<=>(const IfName&, const IfName&) = default;
};

// The kernel's number of an interface within one network namespace; 0 means no interface.
struct IfIndex {
  int value = 0;
  std::string to_string() const { return std::to_string(value); }
  explicit operator bool() const { return value > 0; }
  friend auto operator<=>(const IfIndex&, const IfIndex&) = default;
};

// The number of a VF within its PF, from 0.
struct VfIndex {
  int value = 0;
  std::string to_string() const { return std::to_string(value); }
  friend auto operator<=>(const VfIndex&, const VfIndex&) = default;
};

}  // namespace railbed

template <>
struct std::hash<railbed::PciAddress> {
  size_t operator()(const railbed::PciAddress& a) const {
    return std::hash<uint64_t>{}(uint64_t{a.domain} << 16 | uint64_t{a.bus} << 8 | uint64_t{a.device} << 3 |
                                 a.function);
  }
};
