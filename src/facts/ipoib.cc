// SPDX-License-Identifier: Apache-2.0
#include "facts/ipoib.h"

#include <array>

namespace railbed::facts {
namespace {

uint64_t big_endian(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

std::optional<IpoibAddress> parse_ipoib_address(std::span<const uint8_t> bytes) {
  if (bytes.size() != 20) return std::nullopt;
  return IpoibAddress{.flags = bytes[0],
                      .qpn = static_cast<uint32_t>(big_endian(bytes.subspan(1, 3))),
                      .subnet_prefix = big_endian(bytes.subspan(4, 8)),
                      .port_guid = Guid{big_endian(bytes.subspan(12, 8))}};
}

std::string to_string(const IpoibAddress& address) {
  std::array<uint8_t, 20> bytes{};
  bytes[0] = address.flags;
  for (size_t i = 0; i < 3; ++i) bytes[1 + i] = static_cast<uint8_t>(address.qpn >> (16 - 8 * i));
  for (size_t i = 0; i < 8; ++i) bytes[4 + i] = static_cast<uint8_t>(address.subnet_prefix >> (56 - 8 * i));
  for (size_t i = 0; i < 8; ++i) bytes[12 + i] = static_cast<uint8_t>(address.port_guid.value >> (56 - 8 * i));
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : ":", byte);
  return text;
}

}  // namespace railbed::facts
