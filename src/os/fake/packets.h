// SPDX-License-Identifier: Apache-2.0
// For tests: networks on which a function answers.
// Threading: any, but on_send() not while another thread sends.
// Failure: as PacketPort's.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>

#include "os/ports/packets.h"

namespace railbed::os {

class FakePackets : public PacketPort {
 public:
  explicit FakePackets(Clock& clock) : clock_(clock) {}

  // The packets that arrive in response to one that was sent.
  using Answer = std::function<std::vector<UdpPacket>(const UdpPacket& sent, MacAddress to)>;
  void on_send(Answer answer) { answer_ = std::move(answer); }
  // Makes the namespace disappear.
  void remove_netns(const std::string& path) {
    std::lock_guard lock(mutex_);
    gone_.push_back(path);
  }
  int sockets() const { return sockets_; }  // open now

  Result<std::unique_ptr<PacketSocket>> open(const std::string& netns_path, const std::string& interface,
                                             uint16_t port) override;
  void wait(const std::vector<PacketSocket*>& sockets, Deadline deadline) override;

 private:
  class Socket;
  Clock& clock_;
  std::mutex mutex_;
  Answer answer_;
  std::vector<std::string> gone_;
  std::atomic<int> sockets_ = 0;
};

}  // namespace railbed::os
