// SPDX-License-Identifier: Apache-2.0
// The parameters and results of one size of a test: shared by the RDMA and the TCP loops.
//
// Threading: plain values.
// Failure: none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "perf/measurement.h"
#include "perf/series.h"
#include "perf/tick_clock.h"

namespace railbed::perf {

// One size of a sweep.
struct Round {
  int64_t size_bytes = 0;
  int64_t messages = 0;  // over all queue pairs or streams; 0: for duration_ns
  uint64_t duration_ns = 0;
  int64_t rate_per_s = 0;  // of pings; 0: each after the answer to the last
  bool warms_up = true;    // false: the peer counts, and expects `messages` and none before them
};
inline Round round_of(const TestSpec& spec, int64_t size_bytes) {
  return {.size_bytes = size_bytes,
          .messages = spec.iterations * spec.qps,
          .duration_ns = static_cast<uint64_t>(spec.duration_ms) * 1'000'000,
          .rate_per_s = spec.rate_per_s};
}

// How messages of one size are posted.
struct Pacing {
  int depth = 128;  // messages under way per queue pair
  int batch = 1;    // messages per post, the last of which is signalled
  friend bool operator==(const Pacing&, const Pacing&) = default;
};
// The requested depth, but at most 16 MiB under way: that takes 335 µs at 400 Gb/s, longer than any fabric's round
// trip, and more only makes slow links finish late. Small messages are posted and signalled in batches of up to 100,
// but at most a quarter of the depth so that the queue never runs dry. From 64 KiB on each message is signalled, so
// that the series over time is fine enough. `post_list` is how many were asked for; 0: as said.
inline Pacing pacing_for(int64_t size_bytes, int64_t tx_depth, int64_t post_list = 0) {
  const int64_t depth = std::clamp<int64_t>((16 << 20) / size_bytes, std::min<int64_t>(2, tx_depth), tx_depth);
  const int64_t usual = std::min({int64_t{100}, std::max<int64_t>(1, (64 << 10) / size_bytes), (depth + 3) / 4});
  const int64_t batch = post_list > 0 ? std::min(post_list, depth) : usual;
  return {.depth = static_cast<int>(depth), .batch = static_cast<int>(batch)};
}

struct StreamResult {
  int64_t messages = 0;
  uint64_t duration_ns = 0;  // first post to last completion
  ThroughputMeter meter;
  Pacing pacing;
  bool sent_inline = false;
};

struct PingResult {
  uint64_t duration_ns = 0;
  LatencyMeter meter;
  bool sent_inline = false;
  int64_t lost = 0;  // datagrams without an answer
};

// When pings are due. A measuring loop that sends each ping after the answer to the last one sends nothing while the
// path is dead, so that a second without an answer is one late sample among a hundred thousand ("coordinated
// omission"). By a schedule, every ping that was due meanwhile is late, as the messages of an application would have
// been. Source: Gil Tene, "How NOT to Measure Latency".
class PingSchedule {
 public:
  PingSchedule(const Round& round, const TickClock& clock, uint64_t start)
      : rate_per_s_(round.rate_per_s),
        messages_(round.messages),
        clock_(clock),
        start_(start),
        end_(round.messages > 0 ? UINT64_MAX : start + clock.to_ticks(round.duration_ns)) {}

  // The time in ticks at which ping `number`, from 0, is due; without a rate at once.
  uint64_t due(int64_t number, uint64_t now) const {
    if (rate_per_s_ == 0) return now;
    const auto at_ns = static_cast<unsigned __int128>(number) * 1'000'000'000 / static_cast<uint64_t>(rate_per_s_);
    return start_ + clock_.to_ticks(static_cast<uint64_t>(at_ns));
  }
  // By a schedule, the last ping is the last one due before the end, however late it is sent.
  bool last(int64_t number, uint64_t now) const {
    if (messages_ > 0) return number + 1 >= messages_;
    return rate_per_s_ == 0 ? now >= end_ : due(number + 1, now) >= end_;
  }

 private:
  int64_t rate_per_s_;
  int64_t messages_;
  const TickClock& clock_;
  uint64_t start_;
  uint64_t end_;
};

// The byte that a ping changes: 1 to 250 in turn, so that a repeated or late ping is never mistaken for the next;
// another value ends the exchange.
inline constexpr uint8_t kLastPing = 0xff;
inline uint8_t ping_after(uint8_t value) {
  return value >= 250 ? 1 : static_cast<uint8_t>(value + 1);
}

}  // namespace railbed::perf
