// SPDX-License-Identifier: Apache-2.0
#include "os/fake/packets.h"

#include <algorithm>
#include <cerrno>

namespace railbed::os {

class FakePackets::Socket : public PacketSocket {
 public:
  Socket(FakePackets& port, uint16_t udp_port) : port_(port), udp_port_(udp_port) { ++port_.sockets_; }
  ~Socket() override { --port_.sockets_; }
  MacAddress mac() const override { return {{2, 0, 0, 0, 0, 1}}; }

  Result<void> send(const UdpPacket& packet, MacAddress to) override {
    if (!port_.answer_) return {};
    for (UdpPacket& one : port_.answer_(packet, to))
      if (one.destination_port == udp_port_) waiting_.push_back(std::move(one));
    return {};
  }
  Result<UdpPacket> receive(Deadline deadline) override {
    if (waiting_.empty()) {
      if (port_.clock_.now() < deadline) port_.clock_.wait_until(deadline);
      return fail(Code::kTimeout, "no packet came in time");
    }
    UdpPacket packet = std::move(waiting_.front());
    waiting_.pop_front();
    return packet;
  }
  bool has_some() const { return !waiting_.empty(); }

 private:
  FakePackets& port_;
  uint16_t udp_port_;
  std::deque<UdpPacket> waiting_;
};

Result<std::unique_ptr<PacketSocket>> FakePackets::open(const std::string& netns_path, const std::string&,
                                                        uint16_t port) {
  std::lock_guard lock(mutex_);
  if (std::ranges::count(gone_, netns_path) > 0)
    return fail(system_error(ENOENT, "open network namespace " + netns_path));
  return std::unique_ptr<PacketSocket>(new Socket(*this, port));
}

void FakePackets::wait(const std::vector<PacketSocket*>& sockets, Deadline deadline) {
  for (const PacketSocket* one : sockets)
    if (static_cast<const Socket*>(one)->has_some()) return;
  if (clock_.now() < deadline) clock_.wait_until(deadline);
}

}  // namespace railbed::os
