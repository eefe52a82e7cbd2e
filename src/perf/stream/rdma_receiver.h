// SPDX-License-Identifier: Apache-2.0
// The receiving end of verbs that need receives: counts arrivals, and reposts receives.
//
// Why: a sender can go only as fast as receives are posted; and only the receiver of datagrams knows how many arrived.
// Threading: that of its link.
// Failure: of the queue of arrivals.
#pragma once

#include "perf/channel/watch.h"
#include "perf/series.h"
#include "perf/stream/rdma_link.h"

namespace railbed::perf {

class Receiver {
 public:
  // For messages of one size. `link` and `clock` outlive it.
  Receiver(RdmaLink& link, int64_t size_bytes, const TickClock& clock)
      : link_(link), clock_(clock), size_bytes_(size_bytes) {}

  // Takes what has come, if anything has. Returns how many messages.
  Result<int> take();
  // Until the peer has sent a message on the control channel.
  Result<void> take_until_stopped(Watch& watch);
  // What is still on its way after that: until `expected` messages are there, or nothing came for a while.
  Result<void> take_rest(int64_t expected, Watch& watch);

  int64_t messages() const { return messages_; }
  // Of a message that had not the size that was due, the last one's; 0: all had.
  int64_t other_size_bytes() const { return other_size_bytes_; }
  double duration_s() const { return static_cast<double>(clock_.between_ns(first_, last_)) / 1e9; }
  const ThroughputMeter& meter() const { return meter_; }

 private:
  RdmaLink& link_;
  const TickClock& clock_;
  int64_t size_bytes_;
  int64_t messages_ = 0;
  int64_t other_size_bytes_ = 0;
  uint64_t first_ = 0;  // ticks
  uint64_t last_ = 0;
  ThroughputMeter meter_;
};

}  // namespace railbed::perf
