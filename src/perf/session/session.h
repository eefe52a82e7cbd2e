// SPDX-License-Identifier: Apache-2.0
// The server's side of one client connection: the greeting, then what the client opens, one after the other.
//
// Why: `perf serve` runs continuously while users and scripts measure; a client's error ends its own session, with a
// message to it, and nothing else. What a client can open (a test, a ping, a mesh, a collective) are rows that the
// program passes: the session knows none of them.
// Threading: one thread per instance; interrupt() from any.
// Failure: as the channel and the protocols; it has been reported to the client.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/ports/kernel.h"
#include "perf/channel/control.h"
#include "perf/channel/watch.h"
#include "perf/session/turns.h"
#include "perf/stream/rdma_place.h"

namespace railbed::perf {

class Session;

// What came of a message that opens something.
enum class Served : uint8_t {
  kQuestion,  // it was answered; no test was done
  kTest,      // a test is done, and another may follow
  kLastTest,  // a test is done, and with it the session
};

// What a server can open.
struct Protocol {
  std::string_view opens_with;  // the type of the message that opens it
  std::function<Result<Served>(Session& session, const Envelope& opening)> serve;
};

struct SessionOptions {
  PlaceRequest place;
  Limits limits;
  std::string token;       // "": clients need none
  uint16_t data_port = 0;  // of TCP streams; 0: any free one
  // Memory that clients may ask for beside ordinary pages: huge pages and GPUs may belong to a job that runs.
  std::vector<MemoryKind> offered_memory;
  // "10.1.0.6: bw over RC write, 22 sizes, 1 queue pair(s), rxe0"; called before each test.
  std::function<void(const std::string& line)> on_test;
};

class Session {
 public:
  // `kernel`, `options` and what a server's sessions share outlive it.
  struct Shared {
    const TickClock& clock;
    Turns& turns;
    std::span<const Protocol> protocols;
  };
  Session(os::Kernel& kernel, Socket socket, const SessionOptions& options, const Shared& shared)
      : kernel_(kernel), channel_(std::move(socket), {}, *options.limits.clock), options_(options), shared_(shared) {}

  // Returns the number of completed tests.
  Result<int> run();
  // Whether the client has said who it is, and proved the token.
  bool greeted() const { return greeted_; }
  void interrupt() const { channel_.socket().shut_down(); }

  // --- for protocols, while they serve

  os::Kernel& kernel() { return kernel_; }
  Channel& channel() { return channel_; }
  const TickClock& clock() const { return shared_.clock; }
  const SessionOptions& options() const { return options_; }
  template <ChannelMessage T>
  Result<void> send(const T& message) {
    return channel_.send(message, options_.limits.after(options_.limits.answer));
  }
  // The client is notified once a second that it waits.
  Result<Turns::Turn> wait_for_turn(const TurnNeed& need) { return wait_for_turn(need, options_.limits.turn); }
  Result<Turns::Turn> wait_for_turn(const TurnNeed& need, std::chrono::milliseconds patience);
  // A line about what the client wants, which follows its address.
  Result<void> announce(const std::string& what) const;

 private:
  Result<void> greet();
  Result<int> serve_all();
  Result<Served> serve(const Envelope& opening);

  os::Kernel& kernel_;
  Channel channel_;
  const SessionOptions& options_;
  const Shared shared_;
  std::atomic<bool> greeted_{false};
};

}  // namespace railbed::perf
