// SPDX-License-Identifier: Apache-2.0
#include "base/ip.h"

#include <algorithm>

#include <arpa/inet.h>

#include "base/number.h"

namespace railbed {

Result<IpAddress> IpAddress::parse(std::string_view text) {
  std::string copy(text);
  IpAddress address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.family = IpFamily::kV6;
  if (copy.find('\0') == std::string::npos && inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1)
    return address;
  return fail(Code::kInvalid, "\"{}\" is not an IP address", text);
}

IpAddress IpAddress::from_v4(uint32_t host_order) {
  IpAddress address;
  for (int i = 0; i < 4; ++i) address.bytes[i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
  return address;
}

std::string IpAddress::to_string() const {
  // inet_ntop(3) goes by sprintf(3), which takes ten times as long; attaching a pod writes many addresses.
  if (family == IpFamily::kV4) {
    std::string text;
    for (int i = 0; i < byte_count(); ++i) {
      if (i > 0) text += '.';
      const unsigned byte = bytes[static_cast<size_t>(i)];
      if (byte >= 100) text += static_cast<char>('0' + byte / 100);
      if (byte >= 10) text += static_cast<char>('0' + byte / 10 % 10);
      text += static_cast<char>('0' + byte % 10);
    }
    return text;
  }
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

std::optional<IpAddress> IpAddress::plus(uint64_t steps) const {
  IpAddress sum = *this;
  for (int i = byte_count() - 1; i >= 0 && steps > 0; --i) {
    uint64_t digit = (steps & 0xff) + sum.bytes[i];
    sum.bytes[i] = static_cast<uint8_t>(digit);
    steps = (steps >> 8) + (digit >> 8);
  }
  if (steps > 0) return std::nullopt;
  return sum;
}

std::optional<uint64_t> IpAddress::minus(const IpAddress& other) const {
  if (family != other.family || *this < other) return std::nullopt;
  std::array<uint8_t, 16> difference{};
  int borrow = 0;
  for (int i = byte_count() - 1; i >= 0; --i) {
    int digit = bytes[i] - other.bytes[i] - borrow;
    borrow = digit < 0;
    difference[i] = static_cast<uint8_t>(digit + (borrow ? 256 : 0));
  }
  uint64_t value = 0;
  for (int i = 0; i < byte_count(); ++i) {
    if (value >> 56 != 0) return std::nullopt;
    value = value << 8 | difference[i];
  }
  return value;
}

Gid IpAddress::to_gid() const {
  Gid gid;
  if (family == IpFamily::kV6) {
    gid.bytes = bytes;
  } else {
    gid.bytes[10] = gid.bytes[11] = 0xff;
    std::copy_n(bytes.begin(), 4, gid.bytes.begin() + 12);
  }
  return gid;
}

Result<IpPrefix> IpPrefix::parse(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return fail(Code::kInvalid, "\"{}\" has no prefix length (a prefix looks like 10.0.0.0/24)", text);
  IpPrefix prefix;
  prefix.address = TRY(IpAddress::parse(text.substr(0, slash)));
  std::string_view length = text.substr(slash + 1);
  prefix.length = whole_number<int>(length).value_or(-1);
  if (prefix.length < 0 || prefix.length > prefix.address.bits())
    return fail(Code::kInvalid, "\"{}\": the prefix length must be 0 to {}", text, prefix.address.bits());
  return prefix;
}

std::string IpPrefix::to_string() const {
  return fmt::format("{}/{}", address, length);
}

namespace {
// `address` with all bits after the first `length` set to `bit`.
IpAddress fill(IpAddress address, int length, bool bit) {
  for (int i = 0; i < address.byte_count(); ++i) {
    int kept = std::clamp(length - 8 * i, 0, 8);
    uint8_t mask = static_cast<uint8_t>(0xff >> kept);
    address.bytes[i] = bit ? address.bytes[i] | mask : address.bytes[i] & ~mask;
  }
  return address;
}
}  // namespace

IpAddress IpPrefix::network() const {
  return fill(address, length, false);
}
IpAddress IpPrefix::last() const {
  return fill(address, length, true);
}

bool IpPrefix::contains(const IpAddress& other) const {
  return other.family == address.family && network() <= other && other <= last();
}

bool IpPrefix::overlaps(const IpPrefix& other) const {
  return contains(other.network()) || other.contains(network());
}

bool IpRange::contains(const IpAddress& address) const {
  return address.family == first.family && first <= address && address <= last;
}

uint64_t IpRange::size() const {
  if (last < first) return 0;
  auto distance = last.minus(first);
  return !distance || *distance == UINT64_MAX ? UINT64_MAX : *distance + 1;
}

std::string IpRange::to_string() const {
  return fmt::format("{}-{}", first, last);
}

}  // namespace railbed
