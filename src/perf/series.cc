// SPDX-License-Identifier: Apache-2.0
#include "perf/series.h"

#include <algorithm>

namespace railbed::perf {

void ThroughputMeter::to_slot_of(uint64_t at_ns) {
  while (at_ns / slot_ns_ >= kSlots) coarsen();
  slot_ = at_ns / slot_ns_;
  slot_end_ns_ = (slot_ + 1) * slot_ns_;
}

void ThroughputMeter::coarsen() {
  for (size_t i = 0; i < kSlots / 2; ++i) bytes_[i] = bytes_[2 * i] + bytes_[2 * i + 1];
  std::fill(bytes_.begin() + kSlots / 2, bytes_.end(), 0);
  slot_ns_ *= 2;
}

void ThroughputMeter::merge(const ThroughputMeter& other) {
  ThroughputMeter copy = other;
  while (copy.slot_ns_ < slot_ns_) copy.coarsen();
  while (slot_ns_ < copy.slot_ns_) coarsen();
  for (size_t i = 0; i < kSlots; ++i) bytes_[i] += copy.bytes_[i];
  last_ns_ = std::max(last_ns_, copy.last_ns_);
  to_slot_of(last_ns_);
  total_bytes_ += copy.total_bytes_;
  events_ += copy.events_;
}

// The peak of slots that hold eight events on average; with fewer events only the average is meaningful.
double ThroughputMeter::peak_gbps() const {
  ThroughputMeter copy = *this;
  while (copy.last_ns_ / copy.slot_ns_ > 0 && copy.events_ / (copy.last_ns_ / copy.slot_ns_ + 1) < 8) copy.coarsen();
  double peak = 8.0 * static_cast<double>(total_bytes_) / static_cast<double>(last_ns_);
  for (uint64_t i = 0; i < copy.last_ns_ / copy.slot_ns_; ++i)
    peak = std::max(peak, 8.0 * static_cast<double>(copy.bytes_[i]) / static_cast<double>(copy.slot_ns_));
  return peak;
}

ThroughputSeries ThroughputMeter::series() const {
  if (events_ == 0 || last_ns_ == 0) return {};
  ThroughputMeter copy = *this;
  const auto slots = [&copy] { return copy.last_ns_ / copy.slot_ns_ + 1; };
  while (slots() > 10 && copy.events_ / slots() < 8) copy.coarsen();
  while (slots() > 1000) copy.coarsen();
  ThroughputSeries series{.slot_ms = static_cast<double>(copy.slot_ns_) / 1e6, .gbps = {}, .peak_gbps = peak_gbps()};
  for (uint64_t i = 0; i < slots(); ++i) {
    const bool last = i + 1 == slots();
    // Bytes per ns times 8 is Gb/s. The last slot ends with the last event, possibly right at its start.
    const uint64_t width_ns = last ? copy.last_ns_ - i * copy.slot_ns_ : copy.slot_ns_;
    if (last && width_ns < copy.slot_ns_ / 4 && i > 0) break;
    const double gbps =
        8.0 * static_cast<double>(copy.bytes_[i]) / static_cast<double>(std::max<uint64_t>(width_ns, 1));
    series.gbps.push_back(gbps);
  }
  return series;
}

LatencyMeter::LatencyMeter(uint64_t slot_ns) : slot_ns_(std::max<uint64_t>(slot_ns, 1)) {
  slots_.reserve(kSlots + 4096);
}

uint64_t LatencyMeter::slot_for_ns(uint64_t duration_ns) {
  return std::max(std::clamp<uint64_t>(duration_ns / 100, 10'000'000, 50'000'000), duration_ns / 1000);
}

void LatencyMeter::close_slot() {
  if (slot_.count() == 0) return;
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  slots_.push_back({.at_ms = static_cast<double>(slot_start_ns_) / 1e6,
                    .min_us = us(slot_.min_ns()),
                    .p50_us = us(slot_.percentile_ns(50)),
                    .p99_us = us(slot_.settled_percentile_ns(99).value_or(slot_.max_ns())),
                    .max_us = us(slot_.max_ns()),
                    .samples = slot_.count()});
  slot_.reset();
}

void LatencyMeter::next_slot(uint64_t at_ns) {
  close_slot();
  if (slots_.size() >= kSlots && slots_.size() % 512 == 0) slot_ns_ *= 2;
  slot_start_ns_ = at_ns;
  slot_end_ns_ = (at_ns / slot_ns_ + 1) * slot_ns_;
}

// Late answers that overlap are one: by a schedule, all pings that were due meanwhile are late.
void LatencyMeter::note_late(uint64_t at_ns, uint64_t latency_ns) {
  if (!late_.empty() && at_ns <= late_.back().end_ns) {
    late_.back().end_ns = std::max(late_.back().end_ns, at_ns + latency_ns);
    return;
  }
  if (late_.size() >= kMostOutages) {
    const auto shortest = std::ranges::min_element(late_, {}, [](const Late& l) { return l.end_ns - l.at_ns; });
    if (shortest->end_ns - shortest->at_ns >= latency_ns) return;
    late_.erase(shortest);
  }
  late_.push_back({.at_ns = at_ns, .end_ns = at_ns + latency_ns});
}

std::vector<Outage> LatencyMeter::outages() const {
  const uint64_t least = std::max(kOutageFloor_ns, 20 * all_.percentile_ns(50));
  std::vector<Outage> outages;
  for (const Late& late : late_)
    if (late.end_ns - late.at_ns >= least)
      outages.push_back({.at_ms = static_cast<double>(late.at_ns) / 1e6,
                         .duration_ms = static_cast<double>(late.end_ns - late.at_ns) / 1e6});
  return outages;
}

std::vector<LatencySlot> LatencyMeter::slots() {
  close_slot();
  slot_end_ns_ = 0;
  return slots_;
}

}  // namespace railbed::perf
