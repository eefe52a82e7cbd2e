// SPDX-License-Identifier: Apache-2.0
// How far a size is, for a person who waits for it.
//
// Why: a size may last a day, and whether it moves at all should not be known only at its end. The measuring loop says
// how many messages are through where it looks after its peer anyway, a few times a second and outside of what is
// timed; it waits for nobody. Whoever shows it does so in a thread of its own, since a terminal may take its time.
// Threading: begin() and note() in the measuring thread, text() in any. Failure: none.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "perf/test_spec.h"

namespace railbed::perf {

class LiveFigures {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(const TestSpec& spec, int64_t size_bytes, int64_t number, Clock::time_point now);
  void note(int64_t messages) { messages_.store(messages, std::memory_order_relaxed); }
  void end();  // of a size

  // "bw over rdma, 64 KiB (3 of 23): 1.2 of 2.0 s, 391 Gb/s, 7e+05 messages/s"; "" where no size is under way.
  std::string text(Clock::time_point now) const;

 private:
  mutable std::mutex mutex_;  // of what begin() sets
  TestSpec spec_;
  int64_t size_bytes_ = 0;  // 0: none is under way
  int64_t number_ = 0;
  Clock::time_point began_;
  std::atomic<int64_t> messages_{0};
};

}  // namespace railbed::perf
