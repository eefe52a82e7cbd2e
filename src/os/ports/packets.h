// SPDX-License-Identifier: Apache-2.0
// UDP packets over an interface that has no address yet, for a DHCP client.
//
// Why a packet socket: before the lease there is no address to bind to, and the answer may be sent to one that is not
// configured. The socket is opened inside the namespace and works from any thread afterwards.
// Threading: one thread per PacketSocket; the port from any.
// Failure: NotFound if the namespace or the interface no longer exists; Unsupported for interfaces that are not
// Ethernet; Timeout if nothing arrived before the deadline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/types.h"
#include "os/ports/clock.h"

namespace railbed::os {

struct UdpPacket {
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  std::string payload;
  MacAddress source_mac;  // of a received packet: its sender on this network
  friend bool operator==(const UdpPacket&, const UdpPacket&) = default;
};

inline constexpr MacAddress kToAll{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

class PacketSocket {
 public:
  virtual ~PacketSocket() = default;
  virtual MacAddress mac() const = 0;  // of the interface
  virtual Result<void> send(const UdpPacket& packet, MacAddress to) = 0;
  // The next IPv4 UDP packet for this port; broken packets and those for others are dropped.
  virtual Result<UdpPacket> receive(Deadline deadline) = 0;
};

class PacketPort {
 public:
  virtual ~PacketPort() = default;
  // A socket on `interface` of the namespace at `netns_path`, for UDP packets to `port`.
  virtual Result<std::unique_ptr<PacketSocket>> open(const std::string& netns_path, const std::string& interface,
                                                     uint16_t port) = 0;
  // Waits until one of the sockets (all opened by this port) has something to receive, or the deadline passes.
  virtual void wait(const std::vector<PacketSocket*>& sockets, Deadline deadline) = 0;
};

std::unique_ptr<PacketPort> real_packets();

}  // namespace railbed::os
