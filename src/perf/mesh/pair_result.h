// SPDX-License-Identifier: Apache-2.0
// The results between two NICs, in ten bytes.
//
// Why: 4,096 hosts with 8 rails are 67 million pairs of NICs; a histogram of each (254 kB) would be 17 TB. An analysis
// needs the bandwidth of both directions, the latency's p50 and p99, their number of samples, and the errors. Values
// are stored as logarithms, 2,000 steps per octave: 0.035 % apart, which is finer than the repeatability of a
// measurement, and ratios become differences of integers.
// Threading: plain values.
// Failure: none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace railbed::perf::mesh {

class LogValue {
 public:
  static constexpr int kStepsPerOctave = 2000;

  LogValue() = default;  // not measured
  explicit constexpr LogValue(uint16_t code) : code_(code) {}
  // Below 1, and what is no number, counts as 1; the largest is 2^32.
  static LogValue of(double value) {
    if (!(value > 1)) return LogValue(1);
    const double steps = std::round(std::log2(value) * kStepsPerOctave) + 1;
    return LogValue(static_cast<uint16_t>(std::fmin(steps, kMaxCode)));
  }

  bool measured() const { return code_ != 0; }
  double value() const { return value_of(code_); }
  uint16_t code() const { return code_; }
  static double value_of(int code) { return std::exp2((code - 1) / double{kStepsPerOctave}); }
  // The difference of codes that a factor makes.
  static int steps_of(double factor) { return static_cast<int>(std::lround(std::log2(factor) * kStepsPerOctave)); }
  friend bool operator==(const LogValue&, const LogValue&) = default;

 private:
  static constexpr double kMaxCode = 32 * kStepsPerOctave + 1;
  uint16_t code_ = 0;
};

enum class PairState : uint8_t {
  kNotRun,
  kMeasured,
  kFailed,   // it was tried, and nothing was measured
  kSkipped,  // it was not tried: an end was lost, or has no NIC on the rail
};

struct PairResult {
  LogValue forward_mbps;  // first to second
  LogValue reverse_mbps;  // second to first
  LogValue p50_ns;
  LogValue p99_ns;  // only with 1,000 samples or more: ten of them are beyond it
  uint8_t state_and_samples = 0;
  uint8_t outages = 0;  // times that nothing moved, or the connection broke; 255: that many or more

  PairState state() const { return static_cast<PairState>(state_and_samples >> 6); }
  // At most as many as there were: rounded down to a power of two.
  uint64_t samples() const {
    const int log = state_and_samples & 63;
    return log == 0 ? 0 : uint64_t{1} << (log - 1);
  }
  void set(PairState state, uint64_t samples) {
    const int log = samples == 0 ? 0 : std::min(63, 64 - __builtin_clzll(samples));
    state_and_samples = static_cast<uint8_t>(static_cast<int>(state) << 6 | log);
  }
  bool went_wrong() const { return state() == PairState::kFailed || outages > 0; }
  friend bool operator==(const PairResult&, const PairResult&) = default;
};
static_assert(sizeof(PairResult) == 10);

// What an endpoint reports of a pair, for the store.
struct PairMeasurement {
  double forward_gbps = 0;  // 0: not measured
  double reverse_gbps = 0;
  double p50_us = 0;
  double p99_us = 0;
  uint64_t samples = 0;  // of the latency
  uint32_t outages = 0;
};
inline constexpr uint64_t kSamplesForP99 = 1000;
PairResult compact(const PairMeasurement& measurement);
PairResult failed_pair(uint32_t outages);
PairResult skipped_pair();

}  // namespace railbed::perf::mesh
