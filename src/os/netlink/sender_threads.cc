// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/sender_threads.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>

#include "os/real/descriptor.h"

namespace railbed::os {

int send_to_kernel(int socket, Bytes request) {
  ssize_t sent = -1;
  do sent = ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

void SenderThreads::Sent::send(int socket, const std::vector<uint8_t>& request) {
  sys_errno_ = send_to_kernel(socket, request);
  ended_ = true;
  done_.wake();
}

SenderThreads::~SenderThreads() {
  for (const auto& lane : lanes_)
    if (lane->thread.joinable()) lane->thread.join();
}

// One whose last request has ended; null when there are as many as may be, and all are busy.
SenderThreads::Lane* SenderThreads::free_lane() {
  auto found = std::ranges::find_if(lanes_, [](const auto& lane) { return !lane->busy; });
  if (found == lanes_.end()) {
    if (lanes_.size() >= most_) return nullptr;
    return lanes_.emplace_back(std::make_unique<Lane>()).get();
  }
  if ((*found)->thread.joinable()) (*found)->thread.join();
  return found->get();
}

std::shared_ptr<const SenderThreads::Sent> SenderThreads::send(int fd, Bytes request) {
  std::lock_guard lock(mutex_);
  Lane* lane = free_lane();
  if (lane == nullptr) return nullptr;
  auto sent = std::make_shared<Sent>();
  Descriptor socket(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!socket || sent->fd() < 0) return nullptr;
  lane->busy = true;
  try {
    lane->thread = std::thread([lane, sent, socket = std::move(socket),
                                bytes = std::vector<uint8_t>(request.begin(), request.end())]() mutable {
      sent->send(socket.get(), bytes);
      sent.reset();
      socket = Descriptor();  // before another one may count on the lane
      lane->busy = false;
    });
  } catch (const std::system_error&) {  // no thread
    lane->busy = false;
    return nullptr;
  }
  return sent;
}

}  // namespace railbed::os
