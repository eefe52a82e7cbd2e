// SPDX-License-Identifier: Apache-2.0
#include "perf/histogram.h"

#include <algorithm>
#include <cmath>

namespace railbed::perf {
namespace {

// Histograms of others may be merged in any number: a sum that does not fit stays at the limit.
__int128 limit_of(bool negative) {
  constexpr __int128 kLargest = ~(static_cast<__int128>(1) << 127);
  return negative ? -kLargest : kLargest;
}
__int128 plus(__int128 a, __int128 b) {
  __int128 out = 0;
  return __builtin_add_overflow(a, b, &out) ? limit_of(a < 0) : out;
}
__int128 times(__int128 a, __int128 b) {
  __int128 out = 0;
  return __builtin_mul_overflow(a, b, &out) ? limit_of((a < 0) != (b < 0)) : out;
}

}  // namespace

Histogram::Histogram(int precision_bits) : precision_bits_(std::clamp(precision_bits, 1, 16)) {
  counts_.resize(index_of(kMaxValue_ns) + 1);
}

// The inverse of index_of: the last value that belongs to bucket `index`.
uint64_t Histogram::highest_of(size_t index) const {
  const size_t half = size_t{1} << (precision_bits_ - 1);
  if (index < 2 * half) return index;
  const size_t shift = index / half - 1;
  const uint64_t top = index - shift * half;  // in [half, 2 * half)
  return ((top + 1) << shift) - 1;
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) base_ns_ = other.base_ns_;
  // Converts the sums to this histogram's base: x - a = (x - b) + (b - a).
  const __int128 move = static_cast<__int128>(other.base_ns_) - static_cast<__int128>(base_ns_);
  const __int128 n = other.count_;
  const __int128 squares = plus(times(2 * move, other.sum_), times(n, move * move));
  sum_squares_ = plus(sum_squares_, plus(other.sum_squares_, squares));
  sum_ = plus(sum_, plus(other.sum_, times(n, move)));
  count_ += other.count_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  for (const Bucket& bucket : other.buckets()) counts_[index_of(bucket.highest_ns)] += bucket.count;
}

void Histogram::reset() {
  if (count_ != 0) {
    const auto first = counts_.begin() + static_cast<ptrdiff_t>(index_of(min_ns_));
    std::fill(first, counts_.begin() + static_cast<ptrdiff_t>(index_of(max_ns_)) + 1, 0);
  }
  count_ = 0;
  min_ns_ = UINT64_MAX;
  max_ns_ = 0;
  sum_ = 0;
  sum_squares_ = 0;
}

double Histogram::mean_ns() const {
  if (count_ == 0) return 0;
  return static_cast<double>(base_ns_) + static_cast<double>(sum_) / static_cast<double>(count_);
}

double Histogram::stddev_ns() const {
  if (count_ == 0) return 0;
  const long double n = static_cast<long double>(count_);
  const long double mean = static_cast<long double>(sum_) / n;
  const long double variance = static_cast<long double>(sum_squares_) / n - mean * mean;
  return variance <= 0 ? 0 : static_cast<double>(std::sqrt(variance));
}

// In whole parts of 10^9: 99.9 / 100 * 1000 is more than 999 as a double, and rounding that up names the maximum.
uint64_t Histogram::rank_of(double percent) const {
  constexpr unsigned __int128 kParts = 1'000'000'000;
  const auto parts = static_cast<uint64_t>(std::llround(std::clamp(percent, 0.0, 100.0) * 1e7));
  return std::max<uint64_t>(
      1, static_cast<uint64_t>((parts * static_cast<unsigned __int128>(count_) + kParts - 1) / kParts));
}

std::optional<uint64_t> Histogram::settled_percentile_ns(double percent) const {
  if (count_ < kNeededBeyond || count_ - rank_of(percent) < kNeededBeyond) return std::nullopt;
  return percentile_ns(percent);
}

uint64_t Histogram::percentile_ns(double percent) const {
  return at_rank_ns(rank_of(percent));
}

uint64_t Histogram::at_rank_ns(uint64_t rank) const {
  if (count_ == 0) return 0;
  uint64_t seen = 0;
  for (size_t index = index_of(min_ns_); index < counts_.size(); ++index) {
    seen += counts_[index];
    if (seen >= rank) return std::min(highest_of(index), max_ns_);
  }
  return max_ns_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  if (count_ == 0) return result;
  for (size_t index = index_of(min_ns_); index <= index_of(max_ns_); ++index)
    if (counts_[index] != 0) result.push_back({highest_of(index), counts_[index]});
  return result;
}

Histogram::Compact Histogram::compact() const {
  Compact compact{.precision_bits = precision_bits_,
                  .count = count_,
                  .min_ns = min_ns(),
                  .max_ns = max_ns_,
                  .mean_ns = mean_ns(),
                  .stddev_ns = stddev_ns(),
                  .steps = {}};
  size_t previous = 0;
  for (size_t index = 0; count_ != 0 && index <= index_of(max_ns_); ++index) {
    if (counts_[index] == 0) continue;
    compact.steps.push_back(index - previous);
    compact.steps.push_back(counts_[index]);
    previous = index;
  }
  return compact;
}

bool Histogram::restore(const Compact& compact, Histogram& out) {
  constexpr uint64_t kMaxCount = uint64_t{1} << 48;
  if (compact.precision_bits < 1 || compact.precision_bits > 16) return false;
  if (compact.min_ns > compact.max_ns || compact.max_ns > kMaxValue_ns || compact.count > kMaxCount) return false;
  if (!std::isfinite(compact.mean_ns) || !std::isfinite(compact.stddev_ns)) return false;
  Histogram result(compact.precision_bits);
  if (compact.steps.size() % 2 != 0) return false;
  size_t index = 0;
  size_t first = 0;
  for (size_t i = 0; i < compact.steps.size(); i += 2) {
    if (compact.steps[i] >= result.counts_.size() - index || compact.steps[i + 1] > kMaxCount) return false;
    index += compact.steps[i];
    if (i == 0) first = index;
    result.counts_[index] += compact.steps[i + 1];
    result.count_ += compact.steps[i + 1];
    if (result.count_ > kMaxCount) return false;
  }
  if (result.count_ != compact.count) return false;
  if (compact.count == 0) {
    out = std::move(result);
    return true;
  }
  if (first != result.index_of(compact.min_ns) || index != result.index_of(compact.max_ns)) return false;
  const auto n = static_cast<double>(compact.count);
  if (compact.mean_ns < static_cast<double>(compact.min_ns) * 0.999999 - 1 ||
      compact.mean_ns > static_cast<double>(compact.max_ns) * 1.000001 + 1 || compact.stddev_ns < 0)
    return false;
  // Half of the values at either end deviate most; more would not fit into the sum of squares either.
  if (compact.stddev_ns > static_cast<double>(compact.max_ns - compact.min_ns) * 0.500001 + 1) return false;
  result.min_ns_ = compact.min_ns;
  result.max_ns_ = compact.max_ns;
  result.base_ns_ = static_cast<uint64_t>(std::llround(compact.mean_ns));
  const double off = compact.mean_ns - static_cast<double>(result.base_ns_);  // below 1
  result.sum_ = static_cast<__int128>(std::llround(off * n));
  // The exact value is an integer, so rounding restores it as long as a double can hold it.
  result.sum_squares_ = static_cast<__int128>(std::round((compact.stddev_ns * compact.stddev_ns + off * off) * n));
  out = std::move(result);
  return true;
}

}  // namespace railbed::perf
