// SPDX-License-Identifier: Apache-2.0
// The progress of a size, for a waiting user.
//
// Why: a size may take a day, and stalls should be visible before its end. The measuring loop records the number of
// completed messages where it checks its peer anyway, a few times a second and outside of the timed sections; it never
// waits. The display runs in its own thread, since a terminal may be slow.
// Threading: begin() and note() in the measuring thread, text() in any.
// Failure: none.
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
