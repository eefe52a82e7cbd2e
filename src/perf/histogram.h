// SPDX-License-Identifier: Apache-2.0
// A histogram of durations with a bounded relative error and a fixed size, after Gil Tene's HdrHistogram.
//
// Why: a latency test takes millions of samples and is judged by its tail; sorting them all needs memory that grows
// with the run, and dropping the highest (as some tools do) hides exactly the relevant ones. Here each sample is one
// increment; minimum, maximum, count and mean are exact; the deviation is exact, from integer sums, so that a spread of
// a few nanoseconds does not vanish.
//
// Values are nanoseconds. Below 2^precision_bits each value has its own bucket; above, every power of two is divided
// into 2^(precision_bits-1) equal parts, so a percentile is at most 1/2^(precision_bits-1) too high and never too low.
// Values above kMaxValue_ns are counted as kMaxValue_ns.
// Threading: one thread per instance; merge afterwards.
// Failure: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace railbed::perf {

class Histogram {
 public:
  static constexpr uint64_t kMaxValue_ns = (uint64_t{1} << 40) - 1;  // 18 minutes
  static constexpr int kDefaultPrecisionBits = 11;                   // 0.1 %: three digits

  // 1 <= precision_bits <= 16.
  explicit Histogram(int precision_bits);
  Histogram() : Histogram(kDefaultPrecisionBits) {}

  void record(uint64_t value_ns) {
    if (value_ns > kMaxValue_ns) [[unlikely]]
      value_ns = kMaxValue_ns;
    if (count_ == 0) [[unlikely]]
      base_ns_ = value_ns;
    ++count_;
    ++counts_[index_of(value_ns)];
    if (value_ns < min_ns_) min_ns_ = value_ns;
    if (value_ns > max_ns_) max_ns_ = value_ns;
    // Sums of distances from the first value stay small, which avoids cancellation.
    const int64_t distance = static_cast<int64_t>(value_ns) - static_cast<int64_t>(base_ns_);
    sum_ += distance;
    sum_squares_ += static_cast<__int128>(distance) * distance;
  }
  void merge(const Histogram& other);  // of the same precision
  void reset();                        // takes time in proportion to the span between minimum and maximum

  uint64_t count() const { return count_; }
  uint64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  uint64_t max_ns() const { return max_ns_; }
  double mean_ns() const;
  double stddev_ns() const;  // of all samples (divided by n)
  // The smallest value that at least `percent` of all samples do not exceed, rounded up to its bucket's end
  // but never above the maximum; 0 for an empty histogram. `percent` counts to its seventh decimal.
  uint64_t percentile_ns(double percent) const;
  // That of the sample with this rank, from 1, in the order of size.
  uint64_t at_rank_ns(uint64_t rank) const;
  // The same by percent, and nothing where fewer than kNeededBeyond samples lie beyond it: p99.9 of 1,000 samples is
  // one sample, and says nothing about the next thousand.
  static constexpr uint64_t kNeededBeyond = 10;
  std::optional<uint64_t> settled_percentile_ns(double percent) const;

  int precision_bits() const { return precision_bits_; }
  // All buckets that are not empty: the highest value of the bucket, and its number of samples.
  struct Bucket {
    uint64_t highest_ns;
    uint64_t count;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  std::vector<Bucket> buckets() const;

  // The form in JSON: pairs (index distance from the previous pair, count), and the moments.
  struct Compact {
    int precision_bits = kDefaultPrecisionBits;
    uint64_t count = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;
    double mean_ns = 0;
    double stddev_ns = 0;
    std::vector<uint64_t> steps;
  };
  Compact compact() const;
  // False when `compact` contradicts itself (counts that do not add up, buckets outside minimum and maximum).
  static bool restore(const Compact& compact, Histogram& out);

 private:
  uint64_t rank_of(double percent) const;  // from 1
  size_t index_of(uint64_t value_ns) const {
    const int width = 64 - __builtin_clzll(value_ns | 1);
    const int shift = width > precision_bits_ ? width - precision_bits_ : 0;
    return (static_cast<size_t>(shift) << (precision_bits_ - 1)) + (value_ns >> shift);
  }
  uint64_t highest_of(size_t index) const;

  int precision_bits_;
  uint64_t count_ = 0;
  uint64_t min_ns_ = UINT64_MAX;
  uint64_t max_ns_ = 0;
  uint64_t base_ns_ = 0;
  __int128 sum_ = 0;
  __int128 sum_squares_ = 0;
  std::vector<uint64_t> counts_;
};

}  // namespace railbed::perf
