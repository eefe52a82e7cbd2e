// SPDX-License-Identifier: Apache-2.0
// TCP sockets whose every operation has a deadline.
//
// Why: the control channel and the TCP transport must not hang on a peer that dies or stalls. All sockets are
// non-blocking and closed on exec; waiting is done with poll(2).
// Threading: one thread per socket, but shut_down() may be called from any thread to end another's wait.
// Failure: kTimeout if the deadline passed, kCanceled if the peer closed, else the errno's code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ip.h"
#include "perf/deadline.h"

namespace railbed::perf {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  // `host` is an address or a name.
  static Result<Socket> connect(const std::string& host, uint16_t port, Deadline deadline) {
    return connect(host, port, deadline, std::nullopt);
  }
  // From this address of the machine, where there is one.
  static Result<Socket> connect(const std::string& host, uint16_t port, Deadline deadline,
                                const std::optional<IpAddress>& from);

  // Connects to another port of the machine that `other` is connected to, from the same address.
  static Result<Socket> connect_like(const Socket& other, uint16_t port, Deadline deadline);

  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline);
  // Reads at least one byte.
  Result<size_t> read_some(std::span<std::byte> into, Deadline deadline);
  Result<void> read_all(std::span<std::byte> into, Deadline deadline);
  // These move what is possible at once: 0 when nothing is, kCanceled when the peer has closed.
  Result<size_t> read_now(std::span<std::byte> into);
  Result<size_t> write_now(std::span<const std::byte> bytes);

  void shut_down() const;
  Result<void> set_no_delay() const;
  // Lets reads and writes wait for at most `patience` in the kernel and then return 0: one system call instead of
  // three.
  Result<void> set_blocking(std::chrono::milliseconds patience) const;
  // Detects a dead machine at the other end within about 12 seconds, even when nothing is sent.
  Result<void> set_keepalive() const;

  Result<IpAddress> local_address() const;
  Result<IpAddress> peer_address() const;
  Result<uint16_t> local_port() const;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

class Listener {
 public:
  // No address: all addresses of this machine, both families. Port 0: any free one.
  static Result<Listener> open(const std::optional<IpAddress>& address, uint16_t port);
  // On the local address of `other`. Port 0: any free one.
  static Result<Listener> open_like(const Socket& other, uint16_t port);
  Result<Socket> accept(Deadline deadline);
  void interrupt() const { socket_.shut_down(); }  // ends accept(), here and later
  uint16_t port() const { return port_; }
  int fd() const { return socket_.fd(); }

 private:
  Listener(Socket socket, uint16_t port) : socket_(std::move(socket)), port_(port) {}
  Socket socket_;
  uint16_t port_;
};

}  // namespace railbed::perf
