// SPDX-License-Identifier: Apache-2.0
// The clock of the measuring loops: the processor's time stamp counter if it is reliable.
//
// Why: one reading per message must cost less than what is measured. clock_gettime costs 20 ns at best, and a
// microsecond or more if the kernel's clock source is not the TSC (many virtual machines); RDTSC costs under 10 ns. The
// counter is calibrated against CLOCK_MONOTONIC_RAW once at construction and again by refine(), over an ever longer
// base, so that the error is far below a per mille. Without a steady TSC, clock_gettime is used, and with a clock that
// is not the real one (a test's) that one.
// Threading: now() from any thread; refine() from one thread while no other uses the clock.
// Failure: none.
#pragma once

#include <cstdint>
#include <ctime>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "os/ports/file_tree.h"
#include "perf/clock.h"

namespace railbed::perf {

class TickClock {
 public:
  // Takes about 10 ms with the real clock. `clock` outlives it.
  explicit TickClock(const os::FileTree& files, Clock& clock = real_clock());

  uint64_t now() const {
#ifdef __x86_64__
    if (uses_tsc_) [[likely]]
      return __rdtsc();
#endif
    return slow_now();
  }
  // What limits and other waits beside it go by.
  Clock& clock() const { return clock_; }
  void sleep_ns(uint64_t ns) const { clock_.sleep_until(clock_.now() + std::chrono::nanoseconds(ns)); }
  // The duration between two readings; 0 when the second is not later than the first.
  uint64_t between_ns(uint64_t first, uint64_t last) const { return last > first ? to_ns(last - first) : 0; }
  uint64_t to_ns(uint64_t ticks) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(ticks) * ns_per_2_32_ticks_) >> 32);
  }
  uint64_t to_ticks(uint64_t ns) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(ns) << 32) / ns_per_2_32_ticks_);
  }
  void refine();

 private:
  struct Pair {
    uint64_t ticks;
    uint64_t ns;
  };
  uint64_t slow_now() const;
  static Pair read_pair();

  Clock& clock_;
  bool uses_tsc_ = false;
  uint64_t ns_per_2_32_ticks_ = uint64_t{1} << 32;
  Pair anchor_{};
};

}  // namespace railbed::perf
