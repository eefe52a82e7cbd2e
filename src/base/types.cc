// SPDX-License-Identifier: Apache-2.0
#include "base/types.h"

#include <cctype>

#include "base/number.h"

namespace railbed {
namespace {

// The whole of `text` as a hexadecimal number of at most `max_digits` digits.
template <typename T>
bool parse_hex(std::string_view text, size_t max_digits, T& out) {
  if (text.empty() || text.size() > max_digits) return false;
  const std::optional<T> number = whole_number<T>(text, 16);
  if (number) out = *number;
  return number.has_value();
}

// `count` two-digit bytes separated by `separator`.
bool parse_pairs(std::string_view text, char separator, uint8_t* out, size_t count) {
  if (text.size() != count * 3 - 1) return false;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && text[i * 3 - 1] != separator) return false;
    if (!std::isxdigit(static_cast<unsigned char>(text[i * 3])) || !parse_hex(text.substr(i * 3, 2), 2, out[i]))
      return false;
  }
  return true;
}

std::string join_pairs(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{:02x}", i == 0 ? "" : ":", bytes[i]);
  return text;
}

// Groups of one to four digits separated by ':'; false when their number is not `count`.
bool parse_groups(std::string_view text, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    size_t colon = text.find(':');
    bool last = i + 1 == count;
    if (last != (colon == std::string_view::npos)) return false;
    if (!parse_hex(text.substr(0, colon), 4, out[i])) return false;
    if (!last) text.remove_prefix(colon + 1);
  }
  return true;
}

}  // namespace

Result<PciAddress> PciAddress::parse(std::string_view text) {
  auto wrong = [&] { return fail(Code::kInvalid, "\"{}\" is not a PCI address (one looks like 0000:3c:00.0)", text); };
  PciAddress address;
  std::string_view rest = text;
  size_t first = rest.find(':');
  if (first == std::string_view::npos) return wrong();
  if (rest.find(':', first + 1) != std::string_view::npos) {
    if (!parse_hex(rest.substr(0, first), 8, address.domain)) return wrong();
    rest.remove_prefix(first + 1);
  }
  if (rest.size() != 7 || rest[2] != ':' || rest[5] != '.') return wrong();
  if (!parse_hex(rest.substr(0, 2), 2, address.bus) || !parse_hex(rest.substr(3, 2), 2, address.device) ||
      !parse_hex(rest.substr(6, 1), 1, address.function) || address.device > 31 || address.function > 7)
    return wrong();
  return address;
}

PciAddress PciAddress::plus(uint32_t offset) const {
  uint32_t routing_id = (uint32_t{bus} << 8 | uint32_t{device} << 3 | function) + offset;
  return {.domain = domain,
          .bus = static_cast<uint8_t>(routing_id >> 8),
          .device = static_cast<uint8_t>(routing_id >> 3 & 0x1f),
          .function = static_cast<uint8_t>(routing_id & 7)};
}

// By hand, because every path of a PCI function has one, and formatting four numbers takes ten times as long.
std::string PciAddress::to_string() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(16);
  for (int shift = domain > 0xffff ? 28 : 12; shift >= 0; shift -= 4)
    if (shift < 16 || domain >> shift != 0) text += kDigits[domain >> shift & 0xf];
  for (uint8_t number : {bus, device}) {
    text += ':';
    text += kDigits[number >> 4];
    text += kDigits[number & 0xf];
  }
  text += '.';
  text += kDigits[function & 0xf];
  return text;
}

Result<Guid> Guid::parse(std::string_view text) {
  Guid guid;
  uint8_t pairs[8];
  uint16_t groups[4];
  if (parse_pairs(text, ':', pairs, 8)) {
    for (uint8_t byte : pairs) guid.value = guid.value << 8 | byte;
    return guid;
  }
  if (parse_groups(text, groups, 4)) {
    for (uint16_t group : groups) guid.value = guid.value << 16 | group;
    return guid;
  }
  std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  if (parse_hex(digits, 16, guid.value)) return guid;
  return fail(Code::kInvalid, "\"{}\" is not a GUID (one looks like 0c42:a103:0065:1234)", text);
}

std::string Guid::to_string() const {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", value >> 48 & 0xffff, value >> 32 & 0xffff, value >> 16 & 0xffff,
                     value & 0xffff);
}

std::string Guid::to_pairs() const {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  return join_pairs(bytes, 8);
}

Result<MacAddress> MacAddress::parse(std::string_view text) {
  MacAddress mac;
  if (!parse_pairs(text, ':', mac.bytes.data(), 6) && !parse_pairs(text, '-', mac.bytes.data(), 6))
    return fail(Code::kInvalid, "\"{}\" is not a MAC address (one looks like 02:00:00:00:00:01)", text);
  return mac;
}

std::string MacAddress::to_string() const {
  return join_pairs(bytes.data(), bytes.size());
}

Result<Gid> Gid::parse(std::string_view text) {
  uint16_t groups[8];
  if (!parse_groups(text, groups, 8))
    return fail(Code::kInvalid, "\"{}\" is not a GID (one has eight groups of hexadecimal digits)", text);
  Gid gid;
  for (size_t i = 0; i < 8; ++i) {
    gid.bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    gid.bytes[2 * i + 1] = static_cast<uint8_t>(groups[i]);
  }
  return gid;
}

std::string Gid::to_string() const {
  std::string text;
  for (size_t i = 0; i < 8; ++i)
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", bytes[2 * i], bytes[2 * i + 1]);
  return text;
}

uint64_t Gid::subnet_prefix() const {
  uint64_t prefix = 0;
  for (size_t i = 0; i < 8; ++i) prefix = prefix << 8 | bytes[i];
  return prefix;
}

Guid Gid::interface_id() const {
  Guid guid;
  for (size_t i = 8; i < 16; ++i) guid.value = guid.value << 8 | bytes[i];
  return guid;
}

bool Gid::is_link_local() const {
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool Gid::is_mapped_ipv4() const {
  return subnet_prefix() == 0 && (interface_id().value >> 32) == 0xffff;
}

Result<IfName> IfName::parse(std::string_view text) {
  bool good = !text.empty() && text.size() <= 15 && text != "." && text != "..";
  // A '%' is a pattern for the kernel, which makes another name of it ("net%d") or refuses it in the middle of the
  // work.
  for (unsigned char c : text) good = good && c > ' ' && c != '/' && c != ':' && c != '%' && c != 0x7f;
  if (!good)
    return fail(Code::kInvalid, "\"{}\" is not an interface name (1 to 15 bytes without '/', ':', '%' and blanks)",
                text);
  return IfName{std::string(text)};
}

}  // namespace railbed
