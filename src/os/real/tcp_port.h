// SPDX-License-Identifier: Apache-2.0
// A listening TCP socket that never blocks.
//
// Threading: one thread per object.
// Failure: kConflict if another process listens there, kNotFound for an address that is not this machine's, kDenied for
// a port that requires a privilege, else the errno's code.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "base/ip.h"
#include "os/real/descriptor.h"
#include "os/real/unix_socket.h"

namespace railbed::os {

class TcpListener {
 public:
  // Port 0 takes a free one.
  static Result<TcpListener> open(const IpAddress& address, uint16_t port);

  // nullopt when no client is waiting (any more).
  Result<std::optional<Connection>> accept();
  int fd() const { return socket_.get(); }
  uint16_t port() const { return port_; }

 private:
  TcpListener(Descriptor socket, uint16_t port) : socket_(std::move(socket)), port_(port) {}
  Descriptor socket_;
  uint16_t port_;
};

}  // namespace railbed::os
