// SPDX-License-Identifier: Apache-2.0
// What happens after a poll without result: the processor is yielded if other threads need it, and the peer is checked.
//
// Why: each loop polls memory or a queue that the device fills, and each must detect a peer that has disconnected,
// without a clock or a system call in the normal case.
// Threading: that of the loop.
// Failure: as the Watch.
#pragma once

#include <sched.h>

#include "perf/channel/watch.h"

namespace railbed::perf {

class PollPace {
 public:
  PollPace(Watch& watch, uint32_t yield_mask)
      : watch_(watch),
        yield_mask_(yield_mask),
        last_progress_(watch.clock().now()),
        next_check_(last_progress_ + watch.interval_ticks()) {}

  // True once in so many polls: then the slow path is due, and look() with what it found.
  bool in_vain() {
    ++polls_;
    if ((polls_ & yield_mask_) == 0) sched_yield();
    return (polls_ & kLookMask) == 0;
  }
  Result<void> look() {
    const uint64_t now = watch_.clock().now();
    if (arrivals_ != arrivals_seen_) {
      arrivals_seen_ = arrivals_;
      last_progress_ = now;
    }
    return now < next_check_ ? Result<void>() : check(now);
  }
  // How many messages are through, for who shows it.
  void count(int64_t messages) { messages_ = messages; }
  // Something came; when, the next look says.
  void note_arrival() { ++arrivals_; }
  // There was traffic at `now`.
  Result<void> progress(uint64_t now) {
    last_progress_ = now;
    if (now < next_check_) [[likely]]
      return {};
    return check(now);
  }
  // Until `due`, while the peer polls, which is progress.
  Result<void> idle_until(uint64_t due) {
    for (uint64_t now = watch_.clock().now(); now < due; now = watch_.clock().now()) {
      TRY(progress(now));
      if (yield_mask_ != UINT32_MAX) sched_yield();
    }
    return {};
  }

 private:
  static constexpr uint32_t kLookMask = 1023;

  Result<void> check(uint64_t now) {
    next_check_ = now + watch_.interval_ticks();
    return watch_.tick(now, last_progress_, messages_);
  }

  Watch& watch_;
  uint32_t yield_mask_;
  uint32_t polls_ = 0;
  int64_t messages_ = 0;
  uint64_t arrivals_ = 0;
  uint64_t arrivals_seen_ = 0;  // the value of arrivals_ at last_progress_
  uint64_t last_progress_;
  uint64_t next_check_;
};

}  // namespace railbed::perf
