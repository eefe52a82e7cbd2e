// SPDX-License-Identifier: Apache-2.0
// A netlink socket that sends one query, or one batch of changes, at a time.
//
// Why: requests are acknowledged one by one, with the kernel's own message on failure; dumps that were interrupted by a
// change are repeated; no wait is longer than kAnswerTimeout.
// Threading: one thread per socket.
// Failure: open() returns Unsupported if the kernel lacks the protocol, Denied if a sandbox forbids netlink sockets.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <vector>

#include "os/netlink/sender_threads.h"
#include "os/ports/netlink_message.h"
#include "os/real/descriptor.h"

namespace railbed::os {

class Netns;

// The kernel answers within the system call, but RTNL may be held for seconds by others (VF creation).
inline constexpr std::chrono::seconds kAnswerTimeout{60};

class NetlinkSocket {
 public:
  // Opens a socket in the namespace `inside`, or in the caller's. `groups` is a mask of multicast groups.
  static Result<NetlinkSocket> open(int protocol, const Netns* inside = nullptr, uint32_t groups = 0);

  // The data messages of the answer; empty when it was only an acknowledgement.
  std::expected<std::vector<NetlinkMessage>, NetlinkFailure> ask(NetlinkRequest& request);
  // Asks for a change, and returns when what the multicast group receives meanwhile is enough, or with the kernel's
  // answer, whichever comes first: the kernel announces some changes long before it has done with them. ENOBUFS:
  // neither could be heard, and whether the change was made must be looked up.
  using Enough = std::function<bool(const NetlinkMessage&)>;
  std::expected<void, NetlinkFailure> ask_until(NetlinkRequest& request, SenderThreads& threads, uint32_t group,
                                                const Enough& enough);
  // Sends all in one system call. For changes: their answers have no data.
  struct Refused {
    size_t at = 0;  // which one
    NetlinkFailure why;
  };
  std::expected<void, Refused> ask_all(NetlinkBatch& batch);
  int fd() const { return fd_.get(); }

 private:
  explicit NetlinkSocket(Descriptor fd) : fd_(std::move(fd)) {}
  std::expected<NetlinkReply, NetlinkFailure> ask_once(NetlinkRequest& request);
  int receive(std::chrono::steady_clock::time_point deadline, size_t& size);
  int receive_now(size_t& size);
  int wait(std::chrono::steady_clock::time_point deadline, int other = -1);

  Descriptor fd_;
  uint32_t sequence_ = 0;
  size_t buffer_size_ = 1 << 16;  // not cleared: a socket that asks once reads a few hundred bytes
  std::unique_ptr<uint8_t[]> buffer_ = std::make_unique_for_overwrite<uint8_t[]>(buffer_size_);
};

}  // namespace railbed::os
