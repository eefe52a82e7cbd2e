// SPDX-License-Identifier: Apache-2.0
#include "perf/live_figures.h"

#include <algorithm>

#include "base/format.h"

namespace railbed::perf {

void LiveFigures::begin(const TestSpec& spec, int64_t size_bytes, int64_t number, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  spec_ = spec;
  size_bytes_ = size_bytes;
  number_ = number;
  began_ = now;
  note(0);
}

void LiveFigures::end() {
  const std::lock_guard lock(mutex_);
  size_bytes_ = 0;
}

std::string LiveFigures::text(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (size_bytes_ == 0) return "";
  const auto messages = static_cast<double>(messages_.load(std::memory_order_relaxed));
  const double elapsed_s = std::max(0.0, std::chrono::duration<double>(now - began_).count());
  std::string text =
      fmt::format("{} over {}, {}", name_of(spec_.kind), name_of(spec_.transport), size_text(size_bytes_));
  if (spec_.sizes_bytes.size() > 1) text += fmt::format(" ({} of {})", number_, spec_.sizes_bytes.size());
  if (spec_.iterations > 0)
    text += fmt::format(": {:.0f} of {} messages", messages, spec_.iterations * spec_.qps);
  else
    text += fmt::format(": {:.1f} of {:.1f} s", elapsed_s, static_cast<double>(spec_.duration_ms) / 1e3);
  // Before the first word of the loop nothing is known, which is not 0.
  if (messages <= 0 || elapsed_s <= 0) return text;
  if (spec_.kind == TestKind::kLatency) return text + fmt::format(", {:.0f} round trips", messages);
  const double rate_per_s = messages / elapsed_s;
  return text + fmt::format(", {:.3g} Gb/s, {:.3g} messages/s", 8e-9 * rate_per_s * static_cast<double>(size_bytes_),
                            rate_per_s);
}

}  // namespace railbed::perf
