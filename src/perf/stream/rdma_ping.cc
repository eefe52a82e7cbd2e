// SPDX-License-Identifier: Apache-2.0
// Latency by write: each side writes into the other's buffer and polls the last byte of its own.
//
// The last byte arrives last (writes of one queue pair are delivered in order, and this region is not registered with
// relaxed ordering). A sample is the time from before the post until the answer's last byte is seen.
#include "perf/stream/ping_loop.h"
#include "perf/stream/rdma_loops.h"

namespace railbed::perf {
namespace {

class MemoryPort {
 public:
  MemoryPort(RdmaLink& link, int64_t size_bytes, PollPace& pace)
      : pace_(pace),
        sends_(link),
        arrival_(reinterpret_cast<volatile uint8_t*>(link.receive_area(0)) + size_bytes - 1),
        departure_(reinterpret_cast<volatile uint8_t*>(link.send_area(0)) + size_bytes - 1),
        request_(link.request(0, size_bytes, 0, piece_)) {}
  MemoryPort(const MemoryPort&) = delete;  // request_ points into the object
  MemoryPort& operator=(const MemoryPort&) = delete;

  Result<void> send(bool last) {
    value_ = last ? kLastPing : ping_after(value_);
    return write(value_);
  }
  Result<Answer> await() {
    TRY(await_value(value_));
    return Answer::kCame;
  }
  Result<void> write(uint8_t value) {
    *departure_ = value;
    return sends_.post(request_, value == kLastPing, pace_);
  }
  // Waits for `expected` or the last ping; returns the value that arrived.
  Result<uint8_t> await_value(uint8_t expected) {
    for (;;) {
      const uint8_t seen = *arrival_;
      if (seen == expected || seen == kLastPing) {
        pace_.note_arrival();
        return seen;
      }
      if (!pace_.in_vain()) continue;
      TRY(sends_.poll());
      TRY(pace_.look());
    }
  }
  Result<void> drain() { return sends_.drain(pace_); }

 private:
  PollPace& pace_;
  SparseSends sends_;
  volatile uint8_t* arrival_;
  volatile uint8_t* departure_;
  ibv_sge piece_{};
  ibv_send_wr request_;
  uint8_t value_ = 0;
};

}  // namespace

Result<PingResult> ping_by_memory(RdmaLink& link, const Round& round, Watch& watch) {
  PollPace pace(watch, link.yield_mask());
  MemoryPort port(link, round.size_bytes, pace);
  return ping_through(port, link, round, pace, watch);
}

Result<int64_t> answer_by_memory(RdmaLink& link, int64_t size_bytes, Watch& watch) {
  PollPace pace(watch, link.yield_mask());
  MemoryPort port(link, size_bytes, pace);
  int64_t answered = 0;
  for (uint8_t expected = 1;; expected = ping_after(expected)) {
    const uint8_t seen = TRY(port.await_value(expected));
    TRY(port.write(seen));
    ++answered;
    if (seen == kLastPing) break;
    if ((answered & 63) == 0) TRY(pace.progress(watch.clock().now()));
  }
  TRY(port.drain());
  return answered;
}

Result<PingResult> ping(RdmaLink& link, const Round& round, Watch& watch) {
  if (link.verb().answered_by == AnsweredBy::kDevice) return ping_by_completions(link, round, watch);
  return link.verb().takes_receives ? ping_by_messages(link, round, watch) : ping_by_memory(link, round, watch);
}

Result<int64_t> answer_pings(RdmaLink& link, int64_t size_bytes, Watch& watch) {
  return link.verb().takes_receives ? answer_by_messages(link, size_bytes, watch)
                                    : answer_by_memory(link, size_bytes, watch);
}

}  // namespace railbed::perf
