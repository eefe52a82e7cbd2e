// SPDX-License-Identifier: Apache-2.0
// Throughput and latency over time, in time slots.
//
// Why: one average hides that a link stalled for 200 ms; jitter is visible only over time. Both meters take one event
// per message batch or sample in the measuring loop, in constant time and without allocating.
// Threading: one thread per instance.
// Failure: none.
#pragma once

#include <cstdint>
#include <vector>

#include "perf/histogram.h"

namespace railbed::perf {

struct ThroughputSeries {
  double slot_ms = 0;
  std::vector<double> gbps;  // slot n covers n * slot_ms to (n + 1) * slot_ms; the last may be cut short
  double peak_gbps = 0;      // the best slot that has enough events
  friend bool operator==(const ThroughputSeries&, const ThroughputSeries&) = default;
};

class ThroughputMeter {
 public:
  static constexpr uint64_t kFinestSlot_ns = 10'000'000;

  ThroughputMeter() : bytes_(kSlots) {}
  void add(uint64_t at_ns, uint64_t bytes) {  // at_ns: since the start, never decreasing
    if (at_ns >= slot_end_ns_) [[unlikely]]
      to_slot_of(at_ns);
    bytes_[slot_] += bytes;
    last_ns_ = at_ns;
    total_bytes_ += bytes;
    ++events_;
  }
  void merge(const ThroughputMeter& other);  // of another stream that started at the same time
  uint64_t last_ns() const { return last_ns_; }
  // Slots widen until an average one holds eight events (or ten slots are left), because with fewer events the peak
  // would depend on their count per slot, not on the link.
  ThroughputSeries series() const;

 private:
  static constexpr uint64_t kSlots = 4096;
  void to_slot_of(uint64_t at_ns);
  void coarsen();
  double peak_gbps() const;

  std::vector<uint64_t> bytes_;
  uint64_t slot_ns_ = kFinestSlot_ns;
  uint64_t slot_ = 0;  // of the last event: a division for each would cost more than the rest of add()
  uint64_t slot_end_ns_ = kFinestSlot_ns;
  uint64_t last_ns_ = 0;
  uint64_t total_bytes_ = 0;
  uint64_t events_ = 0;
};

struct LatencySlot {
  double at_ms = 0;  // of the slot's first sample
  double min_us = 0;
  double p50_us = 0;
  double p99_us = 0;  // of slots with too few samples for it (Histogram::kNeededBeyond): the slowest
  double max_us = 0;
  uint64_t samples = 0;
  friend bool operator==(const LatencySlot&, const LatencySlot&) = default;
};

// No answer for so long that a path has failed, not jittered: a round trip of at least LatencyMeter::kOutageFloor_ns
// and of twenty times the median.
struct Outage {
  double at_ms = 0;  // when the ping that was answered so late was sent or due
  double duration_ms = 0;
  friend bool operator==(const Outage&, const Outage&) = default;
};

class LatencyMeter {
 public:
  static constexpr uint64_t kOutageFloor_ns = 10'000'000;

  explicit LatencyMeter(uint64_t slot_ns);
  // 10 to 50 ms for runs up to 50 s; for longer runs wide enough for about a thousand slots.
  static uint64_t slot_for_ns(uint64_t duration_ns);

  void add(uint64_t at_ns, uint64_t latency_ns) {
    if (at_ns >= slot_end_ns_) [[unlikely]]
      next_slot(at_ns);
    all_.record(latency_ns);
    slot_.record(latency_ns);
    if (latency_ns >= kOutageFloor_ns) [[unlikely]]
      note_late(at_ns, latency_ns);
  }
  const Histogram& histogram() const { return all_; }
  std::vector<LatencySlot> slots();  // ends the current slot
  // In the order of time. Pings that were due during one outage are part of it. The longest kMostOutages of them.
  std::vector<Outage> outages() const;

 private:
  static constexpr size_t kSlots = 2048;  // after these the length of slots doubles, and again every 512
  void next_slot(uint64_t at_ns);
  void close_slot();
  void note_late(uint64_t at_ns, uint64_t latency_ns);

  static constexpr size_t kMostOutages = 256;
  struct Late {
    uint64_t at_ns;
    uint64_t end_ns;
  };
  std::vector<Late> late_;  // do not overlap
  Histogram all_;
  Histogram slot_{8};
  std::vector<LatencySlot> slots_;
  uint64_t slot_ns_;
  uint64_t slot_start_ns_ = 0;
  uint64_t slot_end_ns_ = 0;
};

}  // namespace railbed::perf
