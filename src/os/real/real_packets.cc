// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "os/real/descriptor.h"
#include "os/real/inside_netns.h"
#include "os/real/udp_codec.h"

namespace railbed::os {
namespace {

constexpr size_t kMostPacketBytes = 65536;

int milliseconds_until(Deadline deadline) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

class RealSocket : public PacketSocket {
 public:
  RealSocket(Descriptor socket, int index, MacAddress mac) : socket_(std::move(socket)), index_(index), mac_(mac) {}

  MacAddress mac() const override { return mac_; }
  int descriptor() const { return socket_.get(); }

  Result<void> send(const UdpPacket& packet, MacAddress to) override {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_IP);
    address.sll_ifindex = index_;
    address.sll_halen = static_cast<unsigned char>(to.bytes.size());
    std::ranges::copy(to.bytes, address.sll_addr);
    std::string bytes = to_ipv4(packet);
    if (::sendto(socket_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address),
                 sizeof address) < 0)
      return fail(system_error(errno, "send a packet"));
    return {};
  }

  Result<UdpPacket> receive(Deadline deadline) override {
    std::string bytes(kMostPacketBytes, '\0');
    while (true) {
      sockaddr_ll from{};
      socklen_t from_bytes = sizeof from;
      ssize_t got =
          ::recvfrom(socket_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_bytes);
      if (got >= 0) {
        auto packet = read_ipv4({bytes.data(), static_cast<size_t>(got)});
        if (!packet.has_value() || from.sll_pkttype == PACKET_OUTGOING) continue;
        std::copy_n(from.sll_addr, packet->source_mac.bytes.size(), packet->source_mac.bytes.begin());
        return std::move(*packet);
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return fail(system_error(errno, "receive a packet"));
      int left = milliseconds_until(deadline);
      if (left == 0) return fail(Code::kTimeout, "no packet came in time");
      pollfd wanted{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      ::poll(&wanted, 1, left);
    }
  }

 private:
  Descriptor socket_;
  int index_;
  MacAddress mac_;
};

// Accepts only IPv4 UDP packets to the port that are no fragments.
Result<void> only_port(int socket, uint16_t port) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 6),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 4, 0),
      BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
      BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kMostPacketBytes),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  sock_fprog program{.len = std::size(code), .filter = code};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    return fail(system_error(errno, "SO_ATTACH_FILTER"));
  return {};
}

// Opens the socket in the namespace of the calling thread.
Result<std::unique_ptr<PacketSocket>> open_here(const std::string& interface, uint16_t port) {
  ifreq asked{};
  // With protocol 0 nothing arrives before the filter is in place.
  Descriptor socket(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(system_error(errno, "packet socket"));
  std::ranges::copy(interface, asked.ifr_name);
  if (::ioctl(socket.get(), SIOCGIFINDEX, &asked) != 0)
    return fail(system_error(errno == ENODEV ? ENOENT : errno, "interface " + interface));
  int index = asked.ifr_ifindex;
  if (::ioctl(socket.get(), SIOCGIFHWADDR, &asked) != 0) return fail(system_error(errno, "interface " + interface));
  if (asked.ifr_hwaddr.sa_family != ARPHRD_ETHER)
    return fail(Error{.code = Code::kUnsupported,
                      .message = fmt::format("interface {} is not Ethernet (hardware type {})", interface,
                                             asked.ifr_hwaddr.sa_family),
                      .hint = "use ipam type whereabouts, host-local or static for networks over InfiniBand"});
  MacAddress mac;
  std::memcpy(mac.bytes.data(), asked.ifr_hwaddr.sa_data, mac.bytes.size());
  TRY(only_port(socket.get(), port));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_IP);
  address.sll_ifindex = index;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(system_error(errno, "bind a packet socket to " + interface));
  return std::unique_ptr<PacketSocket>(new RealSocket(std::move(socket), index, mac));
}

class RealPackets : public PacketPort {
 public:
  Result<std::unique_ptr<PacketSocket>> open(const std::string& netns_path, const std::string& interface,
                                             uint16_t port) override {
    if (interface.size() >= IFNAMSIZ) return fail(Code::kInvalid, "\"{}\" is not an interface name", interface);
    int fd = ::open(netns_path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(system_error(errno, "open network namespace " + netns_path));
    Netns netns(fd, netns_path);
    Result<std::unique_ptr<PacketSocket>> opened = fail(Code::kInternal, "not opened");
    TRY(run_inside(netns, [&] { opened = open_here(interface, port); }));
    return std::move(opened).context("network namespace {}", netns_path);
  }

  void wait(const std::vector<PacketSocket*>& sockets, Deadline deadline) override {
    std::vector<pollfd> wanted;
    for (const PacketSocket* one : sockets)
      wanted.push_back({.fd = static_cast<const RealSocket*>(one)->descriptor(), .events = POLLIN, .revents = 0});
    ::poll(wanted.data(), wanted.size(), milliseconds_until(deadline));
  }
};

}  // namespace

std::unique_ptr<PacketPort> real_packets() {
  return std::make_unique<RealPackets>();
}

}  // namespace railbed::os
