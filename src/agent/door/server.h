// SPDX-License-Identifier: Apache-2.0
// The agent's socket: takes CNI requests of many clients, has them handled, answers.
//
//   clients ──► reader (the thread of run(): one epoll) ──► queue ──► workers ──► handler
//       ▲                                                                            │
//       └────────────────────────────── answers, by the reader ◄─────────────────────┘
//
// Why so: a client that is slow, sends garbage, announces gigabytes or goes away must not hurt another one.
// So reading and writing never block, every connection has a deadline and a limit of bytes, all connections
// together have one, and whatever is refused is told in CNI's own JSON. STATUS and VERSION have a worker of
// their own, so that they are answered while all others wait for the kernel.
// Stopping: no new connections; what is being handled is finished and answered; of what waits, a DEL is cut
// off without an answer, which makes the shim journal it, and anything else is told to try again.
// Threading: run() from one thread; the handler is called from several. Failure: of the listening socket.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/door/service.h"
#include "cni/request.h"
#include "os/real/unix_socket.h"

namespace railbed::agent {

using Handler = std::function<Reply(const cni::Request&)>;

struct ServerOptions {
  uint32_t uid = 0;  // the user who may send requests
  int workers = 16;
  size_t most_connections = 512;
  size_t most_payload_bytes = 1 << 20;             // of one request
  size_t most_bytes = 64 << 20;                    // of all requests that are being received
  std::chrono::milliseconds request_time{10'000};  // to receive a request, and to deliver its answer
};

class Server {
 public:
  Server(os::UnixListener listener, Handler handler, ServerOptions options = {});
  ~Server();

  // Serves until `stop`, then finishes what it has begun.
  Result<void> run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railbed::agent
