// SPDX-License-Identifier: Apache-2.0
// DHCP packets (IPv4): encoding, decoding, and the content of an acknowledgement.
//
// Options stay raw by their number; lease_of() reads those that a lease needs. Repeated options are concatenated (RFC
// 3396), also if they continue in the fields `file` and `sname` (option 52).
// Threading: pure.
// Failure: Invalid with the reason; a malformed packet has no other effect.
// Sources: RFC 2131, 2132, 3397, 3442.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/ipam.h"
#include "base/error.h"
#include "base/ip.h"
#include "base/types.h"

namespace railbed::ipam {

enum class DhcpType : uint8_t {
  kDiscover = 1,
  kOffer = 2,
  kRequest = 3,
  kDecline = 4,
  kAck = 5,
  kNak = 6,
  kRelease = 7,
};

namespace dhcp_option {
inline constexpr uint8_t kSubnetMask = 1;
inline constexpr uint8_t kRouter = 3;
inline constexpr uint8_t kDnsServers = 6;
inline constexpr uint8_t kHostName = 12;
inline constexpr uint8_t kDomainName = 15;
inline constexpr uint8_t kStaticRoutes = 33;
inline constexpr uint8_t kRequestedAddress = 50;
inline constexpr uint8_t kLeaseTime = 51;
inline constexpr uint8_t kOverload = 52;
inline constexpr uint8_t kMessageType = 53;
inline constexpr uint8_t kServer = 54;
inline constexpr uint8_t kParameters = 55;
inline constexpr uint8_t kMessage = 56;
inline constexpr uint8_t kRenewalTime = 58;
inline constexpr uint8_t kRebindingTime = 59;
inline constexpr uint8_t kClassId = 60;
inline constexpr uint8_t kClientId = 61;
inline constexpr uint8_t kUserClass = 77;
inline constexpr uint8_t kDomainSearch = 119;
inline constexpr uint8_t kClasslessRoutes = 121;
}  // namespace dhcp_option

inline constexpr uint16_t kDhcpServerPort = 67;
inline constexpr uint16_t kDhcpClientPort = 68;

struct DhcpPacket {
  bool from_server = false;  // op: BOOTREPLY
  uint32_t exchange = 0;     // xid
  uint16_t seconds = 0;
  bool broadcast = false;
  IpAddress client;  // ciaddr
  IpAddress yours;   // yiaddr
  IpAddress server;  // siaddr
  IpAddress relay;   // giaddr
  MacAddress mac;    // chaddr
  std::map<uint8_t, std::string> options;
  friend bool operator==(const DhcpPacket&, const DhcpPacket&) = default;

  std::optional<DhcpType> type() const;
  std::optional<IpAddress> address(uint8_t option) const;
  std::optional<uint32_t> number(uint8_t option) const;
};

std::string to_bytes(const DhcpPacket& packet);
Result<DhcpPacket> read_dhcp(std::string_view bytes);

// The client that asks, and the options that it asks for.
struct DhcpClient {
  MacAddress mac;
  std::string id;                          // option 61, as on the wire
  std::map<uint8_t, std::string> provide;  // options to send
  std::vector<uint8_t> ask;                // option 55
  friend bool operator==(const DhcpClient&, const DhcpClient&) = default;
};
// "container/network/interface" after a zero byte, cut to fit: the identifier that the original plugin sends.
std::string dhcp_client_id(const std::string& container, const std::string& network, const std::string& interface);

DhcpPacket discover(const DhcpClient& client, uint32_t exchange);
DhcpPacket request(const DhcpClient& client, uint32_t exchange, const DhcpPacket& offer);
// Extends a lease: sent to its server before the rebinding time, to any server afterwards.
DhcpPacket renewal(const DhcpClient& client, uint32_t exchange, const IpAddress& address);
DhcpPacket release(const DhcpClient& client, uint32_t exchange, const IpAddress& address, const IpAddress& server);

// What an acknowledgement gives.
struct DhcpLease {
  IpPrefix address;
  std::optional<IpAddress> gateway;
  IpAddress server;
  std::optional<uint32_t> seconds;  // absent: forever
  uint32_t renew_after = 0;
  uint32_t rebind_after = 0;
  std::vector<Route> routes;  // with a default route by the gateway; classless routes replace the others
  std::vector<IpAddress> nameservers;
  std::string domain;
  std::vector<std::string> search;
  friend bool operator==(const DhcpLease&, const DhcpLease&) = default;
};
// Fails with Invalid without an address, a subnet mask or a server.
Result<DhcpLease> lease_of(const DhcpPacket& ack);

// "routers" or "3": names that the original knows, or a number.
Result<uint8_t> dhcp_option_number(const std::string& name);

}  // namespace railbed::ipam
