// SPDX-License-Identifier: Apache-2.0
#include "ipam/dhcp_packet.h"

#include <algorithm>
#include <bit>

#include "base/number.h"

namespace railbed::ipam {
namespace {

using namespace dhcp_option;

constexpr size_t kFixedBytes = 236;
constexpr size_t kSnameAt = 44;
constexpr size_t kSnameBytes = 64;
constexpr size_t kFileAt = 108;
constexpr size_t kFileBytes = 128;
constexpr std::string_view kCookie = "\x63\x82\x53\x63";
constexpr uint8_t kPad = 0;
constexpr uint8_t kEnd = 255;
constexpr size_t kLeastBytes = 300;  // the shortest packet that BOOTP relays let through
constexpr size_t kMostOptionBytes = 255;
constexpr uint32_t kForEver = 0xffffffff;
constexpr uint32_t kUsualSeconds = 3600;
constexpr int kScopeLink = 253;
constexpr size_t kMostRoutes = 1024;
constexpr size_t kMostNames = 64;
constexpr size_t kMostNameBytes = 255;

void put16(std::string& out, uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}
void put32(std::string& out, uint32_t value) {
  put16(out, static_cast<uint16_t>(value >> 16));
  put16(out, static_cast<uint16_t>(value));
}
void put(std::string& out, const IpAddress& address) {
  out.append(reinterpret_cast<const char*>(address.bytes.data()), 4);
}

uint8_t byte_at(std::string_view bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}
uint32_t number_at(std::string_view bytes, size_t at) {
  return uint32_t{byte_at(bytes, at)} << 24 | uint32_t{byte_at(bytes, at + 1)} << 16 |
         uint32_t{byte_at(bytes, at + 2)} << 8 | byte_at(bytes, at + 3);
}
IpAddress address_at(std::string_view bytes, size_t at) {
  return IpAddress::from_v4(number_at(bytes, at));
}
std::string bytes_of(const IpAddress& address) {
  std::string bytes;
  put(bytes, address);
  return bytes;
}

// Fails where an option goes beyond the end of the area.
bool read_options(std::string_view area, std::map<uint8_t, std::string>& options) {
  for (size_t at = 0; at < area.size();) {
    uint8_t code = byte_at(area, at++);
    if (code == kPad) continue;
    if (code == kEnd) return true;
    if (at >= area.size()) return false;
    size_t length = byte_at(area, at++);
    if (length > area.size() - at) return false;
    options[code] += area.substr(at, length);
    at += length;
  }
  return true;
}

std::vector<IpAddress> addresses_in(const DhcpPacket& packet, uint8_t option) {
  std::vector<IpAddress> all;
  auto found = packet.options.find(option);
  if (found == packet.options.end()) return all;
  for (size_t at = 0; at + 4 <= found->second.size(); at += 4) all.push_back(address_at(found->second, at));
  return all;
}

int classful_length(const IpAddress& address) {
  return address.bytes[0] < 128 ? 8 : address.bytes[0] < 192 ? 16 : 24;
}

// Each route is a prefix length, as many bytes of the destination as it needs, and the router (RFC 3442).
Result<std::vector<Route>> classless_routes(std::string_view bytes) {
  std::vector<Route> routes;
  for (size_t at = 0; at < bytes.size() && routes.size() < kMostRoutes;) {
    size_t length = byte_at(bytes, at++);
    size_t significant = (length + 7) / 8;
    if (length > 32 || significant + 4 > bytes.size() - at)
      return fail(Code::kInvalid, "option 121 (classless routes) is cut off or has a prefix length of {}", length);
    IpAddress destination;
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), significant, destination.bytes.begin());
    at += significant;
    IpPrefix prefix{destination, static_cast<int>(length)};
    Route route{.destination = {prefix.network(), prefix.length}};
    IpAddress router = address_at(bytes, at);
    at += 4;
    if (router == IpAddress{})
      route.scope = kScopeLink;
    else
      route.gateway = router;
    routes.push_back(std::move(route));
  }
  return routes;
}

std::vector<Route> static_routes(std::string_view bytes) {
  std::vector<Route> routes;
  for (size_t at = 0; at + 8 <= bytes.size() && routes.size() < kMostRoutes; at += 8) {
    IpAddress destination = address_at(bytes, at);
    IpPrefix prefix{destination, classful_length(destination)};
    routes.push_back({.destination = {prefix.network(), prefix.length}, .gateway = address_at(bytes, at + 4)});
  }
  return routes;
}

bool plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

// One name in DNS encoding (RFC 1035 4.1.4); false where it has no proper end.
bool read_name(std::string_view bytes, size_t& at, std::string& name) {
  size_t next = at;
  bool jumped = false;
  for (size_t steps = 0; steps < bytes.size() + 1; ++steps) {
    if (next >= bytes.size()) return false;
    uint8_t length = byte_at(bytes, next++);
    if (length == 0) {
      if (!jumped) at = next;
      return true;
    }
    if ((length & 0xc0) == 0xc0) {
      if (next >= bytes.size()) return false;
      size_t target = size_t{length & 0x3fu} << 8 | byte_at(bytes, next++);
      if (!jumped) at = next;
      jumped = true;
      next = target;
      continue;
    }
    if ((length & 0xc0) != 0 || length > bytes.size() - next || name.size() > kMostNameBytes) return false;
    name += (name.empty() ? "" : ".") + std::string(bytes.substr(next, length));
    next += length;
  }
  return false;
}

std::vector<std::string> search_names(std::string_view bytes) {
  std::vector<std::string> names;
  for (size_t at = 0; at < bytes.size() && names.size() < kMostNames;) {
    std::string name;
    if (!read_name(bytes, at, name)) break;
    if (plain_name(name)) names.push_back(std::move(name));
  }
  return names;
}

DhcpPacket packet_of(const DhcpClient& client, uint32_t exchange, DhcpType type) {
  DhcpPacket packet{.exchange = exchange, .mac = client.mac};
  packet.options[kMessageType] = std::string(1, static_cast<char>(type));
  packet.options[kClientId] = client.id;
  if (type == DhcpType::kRelease) return packet;
  if (!client.ask.empty()) packet.options[kParameters] = std::string(client.ask.begin(), client.ask.end());
  for (const auto& [code, value] : client.provide) packet.options[code] = value;
  return packet;
}

}  // namespace

std::optional<DhcpType> DhcpPacket::type() const {
  auto found = options.find(kMessageType);
  if (found == options.end() || found->second.size() != 1) return std::nullopt;
  uint8_t value = byte_at(found->second, 0);
  if (value < 1 || value > static_cast<uint8_t>(DhcpType::kRelease)) return std::nullopt;
  return static_cast<DhcpType>(value);
}

std::optional<IpAddress> DhcpPacket::address(uint8_t option) const {
  auto found = options.find(option);
  if (found == options.end() || found->second.size() < 4) return std::nullopt;
  return address_at(found->second, 0);
}

std::optional<uint32_t> DhcpPacket::number(uint8_t option) const {
  auto found = options.find(option);
  if (found == options.end() || found->second.size() != 4) return std::nullopt;
  return number_at(found->second, 0);
}

std::string to_bytes(const DhcpPacket& packet) {
  std::string out;
  out += packet.from_server ? '\2' : '\1';
  out += '\1';  // Ethernet
  out += '\6';
  out += '\0';
  put32(out, packet.exchange);
  put16(out, packet.seconds);
  put16(out, packet.broadcast ? 0x8000 : 0);
  for (const IpAddress* address : {&packet.client, &packet.yours, &packet.server, &packet.relay}) put(out, *address);
  out.append(reinterpret_cast<const char*>(packet.mac.bytes.data()), packet.mac.bytes.size());
  out.resize(kFixedBytes);
  out += kCookie;
  // The message type goes first, because some servers look at nothing else.
  auto option = [&](uint8_t code, std::string_view value) {
    do {
      std::string_view part = value.substr(0, kMostOptionBytes);
      out += static_cast<char>(code);
      out += static_cast<char>(part.size());
      out += part;
      value.remove_prefix(part.size());
    } while (!value.empty());
  };
  if (auto type = packet.options.find(kMessageType); type != packet.options.end()) option(kMessageType, type->second);
  for (const auto& [code, value] : packet.options)
    if (code != kMessageType && code != kPad && code != kEnd && code != kOverload) option(code, value);
  out += static_cast<char>(kEnd);
  if (out.size() < kLeastBytes) out.resize(kLeastBytes);
  return out;
}

Result<DhcpPacket> read_dhcp(std::string_view bytes) {
  if (bytes.size() < kFixedBytes + kCookie.size())
    return fail(Code::kInvalid, "a DHCP packet of {} bytes, {} at least", bytes.size(), kFixedBytes + kCookie.size());
  if (bytes.substr(kFixedBytes, kCookie.size()) != kCookie) return fail(Code::kInvalid, "no DHCP packet: no cookie");
  if ((bytes[0] != 1 && bytes[0] != 2) || bytes[1] != 1 || bytes[2] != 6)
    return fail(Code::kInvalid, "a DHCP packet of kind {} for hardware {} with {} bytes", byte_at(bytes, 0),
                byte_at(bytes, 1), byte_at(bytes, 2));
  DhcpPacket packet{.from_server = bytes[0] == 2, .exchange = number_at(bytes, 4)};
  packet.seconds = static_cast<uint16_t>(byte_at(bytes, 8) << 8 | byte_at(bytes, 9));
  packet.broadcast = (byte_at(bytes, 10) & 0x80) != 0;
  packet.client = address_at(bytes, 12);
  packet.yours = address_at(bytes, 16);
  packet.server = address_at(bytes, 20);
  packet.relay = address_at(bytes, 24);
  for (size_t i = 0; i < packet.mac.bytes.size(); ++i) packet.mac.bytes[i] = byte_at(bytes, 28 + i);
  bool whole = read_options(bytes.substr(kFixedBytes + kCookie.size()), packet.options);
  auto overload = packet.options.find(kOverload);
  if (whole && overload != packet.options.end() && overload->second.size() == 1) {
    uint8_t which = byte_at(overload->second, 0);
    if ((which & 1) != 0) whole = read_options(bytes.substr(kFileAt, kFileBytes), packet.options);
    if (whole && (which & 2) != 0) whole = read_options(bytes.substr(kSnameAt, kSnameBytes), packet.options);
  }
  if (!whole) return fail(Code::kInvalid, "a DHCP option goes beyond the end of its packet");
  packet.options.erase(kOverload);
  return packet;
}

std::string dhcp_client_id(const std::string& container, const std::string& network, const std::string& interface) {
  std::string id = container + "/" + network + "/" + interface;
  if (id.size() > kMostOptionBytes - 1) id.resize(kMostOptionBytes - 1);
  return std::string(1, '\0') + id;
}

DhcpPacket discover(const DhcpClient& client, uint32_t exchange) {
  return packet_of(client, exchange, DhcpType::kDiscover);
}

DhcpPacket request(const DhcpClient& client, uint32_t exchange, const DhcpPacket& offer) {
  DhcpPacket packet = packet_of(client, exchange, DhcpType::kRequest);
  packet.options[kRequestedAddress] = bytes_of(offer.yours);
  if (auto server = offer.address(kServer)) packet.options[kServer] = bytes_of(*server);
  return packet;
}

DhcpPacket renewal(const DhcpClient& client, uint32_t exchange, const IpAddress& address) {
  DhcpPacket packet = packet_of(client, exchange, DhcpType::kRequest);
  packet.client = address;
  return packet;
}

DhcpPacket release(const DhcpClient& client, uint32_t exchange, const IpAddress& address, const IpAddress& server) {
  DhcpPacket packet = packet_of(client, exchange, DhcpType::kRelease);
  packet.client = address;
  packet.options[kServer] = bytes_of(server);
  return packet;
}

Result<DhcpLease> lease_of(const DhcpPacket& ack) {
  DhcpLease lease;
  std::optional<uint32_t> mask = ack.number(kSubnetMask);
  if (!mask.has_value())
    return fail(Code::kInvalid, "the DHCP server gave no subnet mask (option 1) with {}", ack.yours);
  if (ack.yours == IpAddress{}) return fail(Code::kInvalid, "the DHCP server gave no address");
  int length = std::countl_one(*mask);
  if (length < 32 && (*mask << length) != 0)
    return fail(Code::kInvalid, "the DHCP server gave an invalid subnet mask {}", IpAddress::from_v4(*mask));
  std::optional<IpAddress> server = ack.address(kServer);
  if (!server.has_value()) return fail(Code::kInvalid, "the DHCP server sent no server identifier (option 54)");
  lease.address = {ack.yours, length};
  lease.server = *server;
  lease.gateway = ack.address(kRouter);
  uint32_t seconds = ack.number(kLeaseTime).value_or(kUsualSeconds);
  if (seconds != kForEver) lease.seconds = seconds;
  lease.rebind_after = std::min(ack.number(kRebindingTime).value_or(seconds - seconds / 8), seconds);
  lease.renew_after = std::min(ack.number(kRenewalTime).value_or(seconds / 2), lease.rebind_after);

  auto classless = ack.options.find(kClasslessRoutes);
  if (classless != ack.options.end() && !classless->second.empty()) {
    lease.routes = TRY(classless_routes(classless->second));
  } else {
    auto fixed = ack.options.find(kStaticRoutes);
    if (fixed != ack.options.end()) lease.routes = static_routes(fixed->second);
    if (lease.gateway.has_value()) lease.routes.push_back({.destination = {}, .gateway = lease.gateway});
  }
  lease.nameservers = addresses_in(ack, kDnsServers);
  if (auto domain = ack.options.find(kDomainName); domain != ack.options.end()) {
    std::string name = domain->second.substr(0, domain->second.find('\0'));
    if (plain_name(name)) lease.domain = name;
  }
  if (auto search = ack.options.find(kDomainSearch); search != ack.options.end())
    lease.search = search_names(search->second);
  return lease;
}

Result<uint8_t> dhcp_option_number(const std::string& name) {
  static constexpr std::pair<std::string_view, uint8_t> kNames[] = {{"dhcp-client-identifier", kClientId},
                                                                    {"subnet-mask", kSubnetMask},
                                                                    {"routers", kRouter},
                                                                    {"host-name", kHostName},
                                                                    {"user-class", kUserClass},
                                                                    {"vendor-class-identifier", kClassId}};
  for (const auto& [known, number] : kNames)
    if (known == name) return number;
  const int given = whole_number<int>(name).value_or(-1);
  if (given > kPad && given < kEnd) return static_cast<uint8_t>(given);
  return fail(Error{.code = Code::kInvalid,
                    .message = fmt::format("\"{}\" is not a known DHCP option", name),
                    .hint = "write its number (1 to 254), or one of dhcp-client-identifier, subnet-mask, routers, "
                            "host-name, user-class, vendor-class-identifier"});
}

}  // namespace railbed::ipam
