// SPDX-License-Identifier: Apache-2.0
#include "perf/tick_clock.h"

#include <string>
#include <string_view>

namespace railbed::perf {
namespace {

// constant_tsc: the counter's rate is independent of the core's clock. Virtual machines often hide the flag although
// their counter follows the host's.
bool tsc_is_steady([[maybe_unused]] const os::FileTree& files) {
#ifdef __x86_64__
  const std::string cpus = files.read("/proc/cpuinfo").value_or("");
  const size_t flags = cpus.find("\nflags");
  if (flags == std::string::npos) return false;
  const std::string_view line = std::string_view(cpus).substr(flags + 1, cpus.find('\n', flags + 1) - flags - 1);
  return line.find(" constant_tsc") != std::string_view::npos || line.find(" hypervisor") != std::string_view::npos;
#endif
  return false;
}

uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

uint64_t TickClock::slow_now() const {
  if (&clock_ == &real_clock()) return monotonic_ns();
  return static_cast<uint64_t>(std::chrono::nanoseconds(clock_.now().time_since_epoch()).count());
}

// Uses the attempt with the shortest duration: an interrupt between the two readings would shift them.
TickClock::Pair TickClock::read_pair() {
  Pair best{};
#ifdef __x86_64__
  uint64_t best_width = UINT64_MAX;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const uint64_t before = __rdtsc();
    const uint64_t ns = monotonic_ns();
    const uint64_t after = __rdtsc();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + best_width / 2, ns};
    }
  }
#endif
  return best;
}

TickClock::TickClock(const os::FileTree& files, Clock& clock) : clock_(clock) {
  if (&clock != &real_clock() || !tsc_is_steady(files)) return;
  anchor_ = read_pair();
  const uint64_t start_ns = monotonic_ns();
  while (monotonic_ns() - start_ns < 10'000'000) continue;
  uses_tsc_ = true;
  refine();
}

void TickClock::refine() {
  if (!uses_tsc_) return;
  const Pair pair = read_pair();
  if (pair.ticks <= anchor_.ticks || pair.ns <= anchor_.ns) {  // the counter stopped or runs backwards
    uses_tsc_ = false;
    ns_per_2_32_ticks_ = uint64_t{1} << 32;
    return;
  }
  ns_per_2_32_ticks_ = static_cast<uint64_t>((static_cast<unsigned __int128>(pair.ns - anchor_.ns) << 32) /
                                             (pair.ticks - anchor_.ticks));
}

}  // namespace railbed::perf
