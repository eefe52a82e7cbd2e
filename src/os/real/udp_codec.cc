// SPDX-License-Identifier: Apache-2.0
#include "os/real/udp_codec.h"

#include <algorithm>

namespace railbed::os {
namespace {

constexpr size_t kIpBytes = 20;
constexpr size_t kUdpBytes = 8;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kTimeToLive = 64;

uint16_t number_at(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 | static_cast<uint8_t>(bytes[at + 1]));
}
void put16(std::string& out, size_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}
void set16(std::string& out, size_t at, uint16_t value) {
  out[at] = static_cast<char>(value >> 8);
  out[at + 1] = static_cast<char>(value);
}
void put(std::string& out, const IpAddress& address) {
  out.append(reinterpret_cast<const char*>(address.bytes.data()), 4);
}
IpAddress address_at(std::string_view bytes, size_t at) {
  return IpAddress::from_v4(uint32_t{number_at(bytes, at)} << 16 | number_at(bytes, at + 2));
}

// RFC 1071.
uint16_t checksum(std::string_view bytes) {
  uint32_t sum = 0;
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) sum += number_at(bytes, at);
  if (bytes.size() % 2 == 1) sum += uint32_t{static_cast<uint8_t>(bytes.back())} << 8;
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

}  // namespace

std::string to_ipv4(const UdpPacket& packet) {
  const size_t udp_bytes = kUdpBytes + packet.payload.size();
  std::string pseudo;
  put(pseudo, packet.source);
  put(pseudo, packet.destination);
  put16(pseudo, kUdp);
  put16(pseudo, udp_bytes);
  std::string udp;
  put16(udp, packet.source_port);
  put16(udp, packet.destination_port);
  put16(udp, udp_bytes);
  put16(udp, 0);
  udp += packet.payload;
  uint16_t sum = checksum(pseudo + udp);
  set16(udp, 6, sum == 0 ? 0xffff : sum);

  std::string ip("\x45\0", 2);
  put16(ip, kIpBytes + udp_bytes);
  put16(ip, 0);       // identification: never fragmented
  put16(ip, 0x4000);  // don't fragment
  ip += static_cast<char>(kTimeToLive);
  ip += static_cast<char>(kUdp);
  put16(ip, 0);
  put(ip, packet.source);
  put(ip, packet.destination);
  set16(ip, 10, checksum(ip));
  return ip + udp;
}

std::optional<UdpPacket> read_ipv4(std::string_view bytes) {
  if (bytes.size() < kIpBytes || (static_cast<uint8_t>(bytes[0]) >> 4) != 4) return std::nullopt;
  const size_t head = size_t{static_cast<uint8_t>(bytes[0]) & 0xfu} * 4;
  const size_t total = number_at(bytes, 2);
  if (head < kIpBytes || total < head + kUdpBytes || total > bytes.size()) return std::nullopt;
  if (checksum(bytes.substr(0, head)) != 0) return std::nullopt;
  if ((number_at(bytes, 6) & 0x3fff) != 0 || static_cast<uint8_t>(bytes[9]) != kUdp) return std::nullopt;
  const size_t udp_bytes = number_at(bytes, head + 4);
  if (udp_bytes < kUdpBytes || udp_bytes > total - head) return std::nullopt;
  return UdpPacket{.source = address_at(bytes, 12),
                   .destination = address_at(bytes, 16),
                   .source_port = number_at(bytes, head),
                   .destination_port = number_at(bytes, head + 2),
                   .payload = std::string(bytes.substr(head + kUdpBytes, udp_bytes - kUdpBytes))};
}

}  // namespace railbed::os
