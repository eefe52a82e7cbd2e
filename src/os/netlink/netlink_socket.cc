// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/netlink_socket.h"

#include <algorithm>
#include <cerrno>

#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "os/real/inside_netns.h"

namespace railbed::os {
namespace {

constexpr int kDumpAttempts = 20;
constexpr int kReceiveBufferBytes = 4 << 20;

std::string protocol_name(int protocol) {
  switch (protocol) {
    case NETLINK_ROUTE:
      return "NETLINK_ROUTE";
    case NETLINK_RDMA:
      return "NETLINK_RDMA";
    case NETLINK_GENERIC:
      return "NETLINK_GENERIC";
    case NETLINK_KOBJECT_UEVENT:
      return "NETLINK_KOBJECT_UEVENT";
    default:
      return fmt::format("netlink protocol {}", protocol);
  }
}

constexpr int kType = SOCK_RAW | SOCK_CLOEXEC;

// An errno, or 0.
int set_up(const Descriptor& fd, uint32_t groups) {
  // Failures do not matter: old kernels lack some options, and an unprivileged process may not force the size.
  const int on = 1;
  for (int option : {NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK})
    ::setsockopt(fd.get(), SOL_NETLINK, option, &on, sizeof on);
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBufferBytes, sizeof kReceiveBufferBytes) != 0)
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  return ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ? errno : 0;
}

NetlinkFailure unanswered(int sys_errno) {
  return {sys_errno, sys_errno == ETIMEDOUT ? "the kernel did not answer" : ""};
}

// Every kernel that runs this has AF_NETLINK. Where it seems to be missing, a sandbox hides it
// (RestrictAddressFamilies= of systemd, a seccomp filter).
Error socket_error(int sys_errno, int protocol) {
  Error error = system_error(sys_errno, "socket " + protocol_name(protocol));
  if (sys_errno == EAFNOSUPPORT || sys_errno == ENOSYS) error.code = Code::kDenied;
  return error;
}

// A socket's time as a member of a multicast group.
class Membership {
 public:
  Membership(const Descriptor& fd, uint32_t group) : fd_(fd), group_(group), joined_(set(NETLINK_ADD_MEMBERSHIP)) {}
  ~Membership() {
    if (joined_) set(NETLINK_DROP_MEMBERSHIP);
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  bool joined() const { return joined_; }

 private:
  bool set(int option) const { return ::setsockopt(fd_.get(), SOL_NETLINK, option, &group_, sizeof group_) == 0; }
  const Descriptor& fd_;
  const uint32_t group_;
  const bool joined_;
};

}  // namespace

Result<NetlinkSocket> NetlinkSocket::open(int protocol, const Netns* inside, uint32_t groups) {
  int made = -1;
  if (inside != nullptr)
    made = TRY(socket_inside(*inside, AF_NETLINK, kType, protocol));
  else if (made = ::socket(AF_NETLINK, kType, protocol); made < 0)
    made = -errno;
  if (made < 0) return fail(socket_error(-made, protocol));
  Descriptor fd(made);
  if (const int failure = set_up(fd, groups); failure != 0) return fail(socket_error(failure, protocol));
  return NetlinkSocket(std::move(fd));
}

std::expected<std::vector<NetlinkMessage>, NetlinkFailure> NetlinkSocket::ask(NetlinkRequest& request) {
  for (int attempt = 0; attempt < kDumpAttempts; ++attempt) {
    auto reply = ask_once(request);
    if (!reply) return std::unexpected(reply.error());
    if (reply->interrupted) continue;
    if (reply->failure.sys_errno != 0) return std::unexpected(reply->failure);
    return std::move(reply->messages);
  }
  return std::unexpected(NetlinkFailure{EBUSY, "the table kept changing while it was read"});
}

std::expected<NetlinkReply, NetlinkFailure> NetlinkSocket::ask_once(NetlinkRequest& request) {
  if (request.overflowed()) return std::unexpected(NetlinkFailure{EMSGSIZE, "the request is too long"});
  request.set_sequence(++sequence_);
  if (int failure = send_to_kernel(fd_.get(), request.bytes()); failure != 0)
    return std::unexpected(NetlinkFailure{failure, {}});

  NetlinkReply reply;
  auto deadline = std::chrono::steady_clock::now() + kAnswerTimeout;
  while (!reply.complete) {
    size_t size = 0;
    int failure = receive(deadline, size);
    if (failure == EMSGSIZE) {  // only queries have such large answers: repeat it
      reply.interrupted = true;
      continue;
    }
    if (failure != 0) return std::unexpected(unanswered(failure));
    read_datagram(Bytes(buffer_.get(), size), sequence_, reply);
  }
  return reply;
}

std::expected<void, NetlinkFailure> NetlinkSocket::ask_until(NetlinkRequest& request, SenderThreads& threads,
                                                             uint32_t group, const Enough& enough) {
  if (request.overflowed()) return std::unexpected(NetlinkFailure{EMSGSIZE, "the request is too long"});
  const Membership heard(fd_, group);
  request.set_sequence(++sequence_);
  auto sent = heard.joined() ? threads.send(fd_.get(), request.bytes()) : nullptr;
  if (sent == nullptr) {
    auto asked = ask(request);
    return asked ? std::expected<void, NetlinkFailure>{} : std::unexpected(asked.error());
  }
  NetlinkReply reply;
  auto deadline = std::chrono::steady_clock::now() + kAnswerTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    const bool ended = sent->has_ended();  // before the look: what the kernel had to say is there then
    size_t size = 0;
    int failure = receive_now(size);
    if (failure == EAGAIN && ended)
      return std::unexpected(NetlinkFailure{sent->sys_errno() != 0 ? sent->sys_errno() : ENOBUFS, {}});
    if (failure == EAGAIN) {
      if (failure = wait(deadline, sent->fd()); failure != 0) return std::unexpected(unanswered(failure));
      continue;
    }
    if (failure == ENOBUFS || failure == EMSGSIZE) continue;  // something was lost: the rest, or the end, shows it
    if (failure != 0) return std::unexpected(unanswered(failure));
    const Bytes datagram(buffer_.get(), size);
    read_datagram(datagram, sequence_, reply);
    if (reply.complete && reply.failure.sys_errno != 0) return std::unexpected(std::move(reply.failure));
    if (reply.complete || std::ranges::any_of(read_announcements(datagram), enough)) return {};
  }
  return std::unexpected(unanswered(ETIMEDOUT));
}

std::expected<void, NetlinkSocket::Refused> NetlinkSocket::ask_all(NetlinkBatch& batch) {
  if (batch.size() == 0) return {};
  if (batch.overflowed()) return std::unexpected(Refused{0, {EMSGSIZE, "the request is too long"}});
  const uint32_t first = sequence_ + 1;
  sequence_ += static_cast<uint32_t>(batch.size());
  batch.number(first);
  if (int failure = send_to_kernel(fd_.get(), batch.bytes()); failure != 0)
    return std::unexpected(Refused{0, {failure, {}}});
  BatchReply reply;
  auto deadline = std::chrono::steady_clock::now() + kAnswerTimeout;
  while (!reply.complete) {
    size_t size = 0;
    if (int failure = receive(deadline, size); failure != 0) return std::unexpected(Refused{0, unanswered(failure)});
    read_batch_datagram(Bytes(buffer_.get(), size), first, batch.size(), reply);
  }
  if (reply.failure.sys_errno != 0) return std::unexpected(Refused{reply.at, std::move(reply.failure)});
  return {};
}

// The kernel usually answers within the request, so this reads first and waits only when there is nothing.
int NetlinkSocket::receive(std::chrono::steady_clock::time_point deadline, size_t& size) {
  while (true) {
    if (int failure = receive_now(size); failure != EAGAIN) return failure;
    if (int failure = wait(deadline); failure != 0) return failure;
  }
}

// Receives one datagram from the kernel into buffer_; returns an errno (EAGAIN: there is none) or 0. A datagram longer
// than the buffer is lost: then the result is EMSGSIZE and the buffer has grown.
int NetlinkSocket::receive_now(size_t& size) {
  while (true) {
    sockaddr_nl sender{};
    socklen_t sender_size = sizeof sender;
    ssize_t count = ::recvfrom(fd_.get(), buffer_.get(), buffer_size_, MSG_DONTWAIT | MSG_TRUNC,
                               reinterpret_cast<sockaddr*>(&sender), &sender_size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (sender.nl_pid != 0) continue;  // not from the kernel
    size = static_cast<size_t>(count);
    if (size <= buffer_size_) return 0;
    buffer_ = std::make_unique_for_overwrite<uint8_t[]>(size);
    buffer_size_ = size;
    return EMSGSIZE;
  }
}

// Until there is something to receive, or `other` is readable; an errno, or 0.
int NetlinkSocket::wait(std::chrono::steady_clock::time_point deadline, int other) {
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    pollfd waiting[] = {{.fd = fd_.get(), .events = POLLIN, .revents = 0},
                        {.fd = other, .events = POLLIN, .revents = 0}};
    int ready = ::poll(waiting, other < 0 ? 1 : 2, static_cast<int>(left.count()));
    if (ready > 0) return 0;
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

}  // namespace railbed::os
