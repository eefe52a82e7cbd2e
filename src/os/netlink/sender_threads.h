// SPDX-License-Identifier: Apache-2.0
// Threads that send netlink requests whose completion the caller need not wait for.
//
// Why: the kernel processes a request within the sender's system call. Removing interfaces takes one or two
// milliseconds, and then 10 to 40 more until no processor can use them any more (netdev_run_todo(): rcu_barrier() and
// the last references, without the RTNL lock): by then they are invisible to every process, and nothing can fail.
// NetlinkSocket::ask_until() leaves that time to one of these threads.
// Threading: send() from any thread; each request has a thread while it is in progress, no more than `most` at once, so
// that a kernel which never finishes blocks at most that many.
// Failure: send() returns nothing, and the caller sends the request itself.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "os/ports/netlink_message.h"
#include "os/real/unix_socket.h"

namespace railbed::os {

// send(2) to the kernel, since a netlink socket that is not connected has no other peer; an errno, or 0.
int send_to_kernel(int socket, Bytes request);

class SenderThreads {
 public:
  static constexpr size_t kMost = 16;
  explicit SenderThreads(size_t most = kMost) : most_(most) {}
  ~SenderThreads();  // waits for what is under way
  SenderThreads(const SenderThreads&) = delete;
  SenderThreads& operator=(const SenderThreads&) = delete;

  // A request that was given to a thread.
  class Sent {
   public:
    // Readable once the system call has ended: the kernel's answer is in the socket's buffer unless that had no room.
    int fd() const { return done_.fd(); }
    bool has_ended() const { return ended_; }
    // Of the system call, once it has ended; 0: the kernel took the request.
    int sys_errno() const { return sys_errno_; }

   private:
    friend class SenderThreads;
    void send(int socket, const std::vector<uint8_t>& request);
    Waker done_;
    std::atomic<int> sys_errno_{0};
    std::atomic<bool> ended_{false};
  };
  // Sends `request` on the socket `fd`, which may be closed meanwhile. Null where no thread or descriptor is to be had.
  std::shared_ptr<const Sent> send(int fd, Bytes request);

 private:
  struct Lane {
    std::thread thread;
    std::atomic<bool> busy{false};
  };
  Lane* free_lane();

  const size_t most_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace railbed::os
