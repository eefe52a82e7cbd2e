// SPDX-License-Identifier: Apache-2.0
// The server's side of one client connection: any number of tests, sequentially, or one mesh or collective.
//
// Why: `perf serve` runs continuously while users and scripts measure; a client's error ends its own session, with a
// message to it, and nothing else.
// Threading: one thread per instance; interrupt() from any.
// Failure: as the channel and the links; it has been reported to the client.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "perf/channel/control.h"
#include "perf/channel/watch.h"
#include "perf/mesh/membership.h"
#include "perf/session/turns.h"
#include "perf/stream/rdma_loops.h"
#include "perf/stream/rdma_place.h"
#include "perf/stream/tcp_link.h"

namespace railbed::perf {

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
    mesh::Membership& membership;
  };
  Session(os::Kernel& kernel, Socket socket, const SessionOptions& options, const Shared& shared)
      : kernel_(kernel),
        channel_(std::move(socket), {}, *options.limits.clock),
        options_(options),
        clock_(shared.clock),
        turns_(shared.turns),
        membership_(shared.membership) {}

  // Returns the number of completed tests.
  Result<int> run();
  // Whether the client has said who it is, and proved the token.
  bool greeted() const { return greeted_; }
  void interrupt() const { channel_.socket().shut_down(); }

 private:
  Result<void> greet();
  Result<int> serve_tests();
  // The client is told once a second that it waits.
  Result<Turns::Turn> wait_for_turn(const TurnNeed& need) { return wait_for_turn(need, options_.limits.turn); }
  Result<Turns::Turn> wait_for_turn(const TurnNeed& need, std::chrono::milliseconds patience);
  Result<void> serve(const OpenTest& open);
  Result<void> serve_mesh(mesh::Enlist enlist);
  Result<void> serve_collective(collective::Join join);
  Result<Turns::Turn> turn_of_all_rails(int64_t memory_bytes);
  Result<void> serve_ping(const OpenPing& wanted);
  Result<void> serve_rdma(const TestSpec& spec, const std::optional<TestSpec>& load_spec);
  Result<void> refuse_load(const TestSpec& load) const;
  Result<std::optional<RdmaLink>> open_load(const std::optional<TestSpec>& load, const PlaceRequest& request);
  Result<void> refuse_memory(const TestSpec& spec) const;
  // One size over RDMA, up to the client's Done.
  Result<Outcome> serve_round(const TestSpec& spec, RdmaLink& link, const Start& start);
  Result<void> serve_tcp(const TestSpec& spec);
  // Calls `one` for each Start until the client closes the test.
  Result<void> rounds(const TestSpec& spec, const std::function<Result<Outcome>(const Start&)>& one);
  std::chrono::milliseconds longest(const TestSpec& spec) const;
  Result<Done> await_done(const TestSpec& spec, const Start& start);
  Result<void> send(const Message& message) {
    return channel_.send(message, options_.limits.after(options_.limits.answer));
  }
  void tell(const std::string& line) const {
    if (options_.on_test) options_.on_test(line);
  }

  os::Kernel& kernel_;
  Channel channel_;
  const SessionOptions& options_;
  const TickClock& clock_;
  Turns& turns_;
  mesh::Membership& membership_;
  std::atomic<bool> greeted_{false};
};

}  // namespace railbed::perf
