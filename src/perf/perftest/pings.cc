// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/pings.h"

#include "perf/stream/message_port.h"

namespace railbed::perf::perftest {
namespace {

// Writes whose last byte is the count's lowest.
class CountingPort {
 public:
  CountingPort(RdmaLink& link, int64_t size_bytes, PollPace& pace)
      : pace_(pace),
        sends_(link),
        arrival_(reinterpret_cast<volatile uint8_t*>(link.receive_area(0)) + size_bytes - 1),
        departure_(reinterpret_cast<volatile uint8_t*>(link.send_area(0)) + size_bytes - 1),
        request_(link.request(0, size_bytes, 0, piece_)) {}
  CountingPort(const CountingPort&) = delete;  // request_ points into the object
  CountingPort& operator=(const CountingPort&) = delete;

  Result<void> send(bool last) {
    *departure_ = ++sent_;
    return sends_.post(request_, last, pace_);
  }
  Result<Answer> await() {
    ++awaited_;
    while (!came()) {
      if (!pace_.in_vain()) continue;
      TRY(sends_.poll());
      // A peer that has sent its last ping closes at once: what it sent is here before that is seen.
      if (auto looked = pace_.look(); !looked && !came()) return fail(std::move(looked.error()));
    }
    pace_.note_arrival();
    return Answer::kCame;
  }
  Result<void> drain() { return sends_.drain(pace_); }

 private:
  bool came() const { return *arrival_ == awaited_; }

  PollPace& pace_;
  SparseSends sends_;
  volatile uint8_t* arrival_;
  volatile uint8_t* departure_;
  ibv_sge piece_{};
  ibv_send_wr request_;
  uint8_t sent_ = 0;
  uint8_t awaited_ = 0;
};

template <typename Port>
Result<PingResult> in_turn(Port& port, RdmaLink& link, Round round, Turn turn, PollPace& pace, Watch& watch) {
  round.warms_up = false;
  if (turn == Turn::kFirst) return ping_through(port, link, round, pace, watch);
  TRY(port.await());
  --round.messages;
  PingResult result = TRY(ping_through(port, link, round, pace, watch));
  TRY(port.send(true));
  // The peer has all that it waits for then and may be gone, so that nothing acknowledges: no failure of this test.
  (void)port.drain();
  return result;
}

}  // namespace

Result<PingResult> counted_pings(RdmaLink& link, const Round& round, Turn turn, Watch& watch) {
  PollPace pace(watch, link.yield_mask());
  if (link.verb().takes_receives) {
    MessagePort port(link, round.size_bytes, pace, watch);
    return in_turn(port, link, round, turn, pace, watch);
  }
  CountingPort port(link, round.size_bytes, pace);
  return in_turn(port, link, round, turn, pace, watch);
}

Result<void> receive_all(Receiver& receiver, int64_t messages, const RdmaLink& link, Watch& watch) {
  PollPace pace(watch, link.yield_mask());
  while (receiver.messages() < messages) {
    if (TRY(receiver.take()) > 0)
      pace.note_arrival();
    else if (pace.in_vain())
      TRY(pace.look());
  }
  return {};
}

}  // namespace railbed::perf::perftest
