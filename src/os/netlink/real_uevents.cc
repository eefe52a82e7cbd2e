// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "os/netlink/netlink_socket.h"
#include "os/netlink/uevent_codec.h"
#include "os/ports/link_watch.h"
#include "os/ports/uevents.h"

namespace railbed::os {
namespace {

constexpr uint32_t kKernelGroup = 1;
constexpr size_t kUeventBytes = 16 << 10;  // the kernel's limit is 2 KiB of properties

// Waits until data can be read or the deadline has passed. Data that is already there counts even at the deadline.
Result<void> wait_readable(int fd, Deadline deadline, const char* what) {
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    int timeout_ms = left.count() <= 0 ? 0 : static_cast<int>(std::min<int64_t>(left.count(), 3'600'000));
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    int ready = ::poll(&waiting, 1, timeout_ms);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(system_error(errno, fmt::format("poll for {}s", what)));
    if (ready == 0 && std::chrono::steady_clock::now() >= deadline)
      return fail(Code::kTimeout, "no {} before the deadline", what);
  }
}

// The next datagram from the kernel; an empty one means: try again. ENOBUFS means that some were lost.
Result<std::string_view> receive(int fd, std::span<char> buffer, const char* what) {
  sockaddr_nl sender{};
  socklen_t sender_size = sizeof sender;
  ssize_t count =
      ::recvfrom(fd, buffer.data(), buffer.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&sender), &sender_size);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return std::string_view{};
  if (count < 0) return fail(system_error(errno, fmt::format("receive {}s", what)));
  if (sender.nl_pid != 0) return std::string_view{};  // other processes could send here, too
  return std::string_view(buffer.data(), static_cast<size_t>(count));
}

class RealUevents : public UeventStream {
 public:
  explicit RealUevents(NetlinkSocket socket) : socket_(std::move(socket)) {}

  Result<Uevent> next(Deadline deadline) override {
    while (true) {
      TRY(wait_readable(socket_.fd(), deadline, "uevent"));
      std::array<char, kUeventBytes> buffer;
      auto datagram = receive(socket_.fd(), buffer, "uevent");
      if (!datagram && datagram.error().sys_errno == ENOBUFS)
        return Uevent{.action = "overrun", .subsystem = {}, .devpath = {}, .properties = {}};
      if (auto event = parse_uevent(TRY(std::move(datagram)))) return std::move(*event);
    }
  }

 private:
  NetlinkSocket socket_;
};

class RealUeventPort : public UeventPort {
 public:
  Result<std::unique_ptr<UeventStream>> open() override {
    return std::make_unique<RealUevents>(TRY(NetlinkSocket::open(NETLINK_KOBJECT_UEVENT, nullptr, kKernelGroup)));
  }
};

class RealLinkWatch : public LinkWatch {
 public:
  explicit RealLinkWatch(NetlinkSocket socket) : socket_(std::move(socket)) {}

  // Drops all announcements that have arrived and returns once for them.
  Result<void> next(Deadline deadline) override {
    TRY(wait_readable(socket_.fd(), deadline, "announcement of an interface"));
    std::array<char, kUeventBytes> buffer;
    while (true) {
      auto datagram = receive(socket_.fd(), buffer, "announcement of an interface");
      if (!datagram && datagram.error().sys_errno != ENOBUFS) return fail(std::move(datagram.error()));
      if (datagram && datagram->empty()) return {};
    }
  }

 private:
  NetlinkSocket socket_;
};

}  // namespace

Result<std::unique_ptr<LinkWatch>> real_link_watch() {
  return std::make_unique<RealLinkWatch>(TRY(NetlinkSocket::open(NETLINK_ROUTE, nullptr, RTMGRP_LINK)));
}

std::unique_ptr<UeventPort> real_uevents() {
  return std::make_unique<RealUeventPort>();
}

}  // namespace railbed::os
