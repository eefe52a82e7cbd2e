// SPDX-License-Identifier: Apache-2.0
// The agent's socket server: accepts CNI requests of many clients, dispatches them, sends the answers.
//
//   clients ──► reader (the thread of run(): one epoll) ──► crews of threads ──► handler
//       ▲                                                                                      │
//       └────────────────────────────── answers, by the reader ◄───────────────────────────────┘
//
// Why: a client that is slow, sends garbage, announces gigabytes or disconnects must not affect another one. So reading
// and writing never block, every connection has a deadline and a limit of bytes, all connections together have one, and
// refused requests get CNI's own JSON error. A request that hangs affects its own pod or network only: order.h defines
// what runs in parallel, crew.h runs it. An ADD whose client has disconnected is not started, or is undone by its DEL.
// If the socket is removed, it is re-created within kLookForSocket. Stopping: connections are refused immediately. Of
// the queued requests, a DEL is cut off without an answer, which makes the shim journal it, and any other gets the
// answer to retry with the next agent. The same applies to requests that fail while the agent stops: its owner ends
// executed plugins then. What is still not done after `time_to_end` is cut off, as if the agent had been killed.
// Threading: run() from one thread; the handler is called from several.
// Failure: of the listening socket.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/context/request_context.h"
#include "agent/running_plugins.h"
#include "cni/request.h"
#include "os/real/unix_socket.h"

namespace railbed::agent {

// How often the server looks whether its socket is still where clients look for it.
inline constexpr std::chrono::milliseconds kLookForSocket{2'000};

using Handler = std::function<Reply(const cni::Request&)>;

// Why pods may not start: threads that cannot be had, requests that are refused, a socket that was removed.
enum class Trouble : uint8_t { kThreads, kConnections, kBytes, kAccept, kSocket };
std::string_view trouble_name(Trouble trouble);

struct ServerOptions {
  uint32_t uid = 0;  // the user who may send requests
  // Whether who has connected may ask beyond being that user; a failure is the answer. Empty: nothing more is asked. In
  // the thread of run().
  std::function<Result<void>(const os::Connection&)> admit;
  size_t workers = 2 * RunningPlugins::kMost;  // at once, of pods; as many for addresses
  size_t most_connections = 512;  // of runtimes; as many again for plugins that we execute and that ask us in turn
  size_t most_payload_bytes = 1 << 20;             // of one request
  size_t most_bytes = 64 << 20;                    // of all requests that are being received
  std::chrono::milliseconds request_time{10'000};  // to receive a request, and to deliver its answer
  std::chrono::milliseconds time_to_end{1'500};    // between `stop` and the end of run()
  // Called in the thread of run(); must not block.
  std::function<void(Trouble, const std::string&)> trouble;
  // What is held for a request for as long as it waits and is worked on, given the descriptor of its network namespace
  // that came with it, if one did. A failure is the request's. In the thread of run(); must not block. May be empty.
  std::function<Result<std::shared_ptr<void>>(const cni::Request&, os::Descriptor)> hold;
  // Answers requests for cni::kAgentReport, in the thread of run(), so that a full house cannot keep it waiting.
  std::function<std::string()> report;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class Server {
 public:
  Server(os::UnixListener listener, Handler handler, ServerOptions options = {});
  ~Server();

  // Serves until `stop`, then ends in order. kCutOff: requests are being worked on, ~Server() would wait for them.
  enum class End : uint8_t { kDrained, kCutOff };
  Result<End> run(std::stop_token stop);

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace railbed::agent
