// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/pattern.h"

#include <algorithm>
#include <limits>

namespace railbed::perf::collective {
namespace {

// With 256 ranks: 256 · 8191 of all, and the squares up to 256, are below 2^24 together.
constexpr uint32_t kPlaceMask = 8191;
constexpr uint32_t kGoldenRatio = 2654435769u;  // 2^32 over it: neighbours get far from each other

uint32_t of_place(uint64_t i, uint32_t seed) {
  return ((static_cast<uint32_t>(i) * kGoldenRatio) >> 16 ^ static_cast<uint32_t>(i >> 8) ^ seed * 31) & kPlaceMask;
}

uint32_t square(uint32_t number) {
  return number * number;
}

}  // namespace

void fill_input(std::span<float> out, uint32_t rank, uint32_t seed) {
  for (uint64_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(of_place(i, seed) + square(rank + 1));
}

void spoil(std::span<float> out) {
  std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
}

std::optional<Wrong> find_wrong(std::span<const float> sums, uint32_t ranks, uint32_t seed) {
  const uint32_t squares = ranks * (ranks + 1) * (2 * ranks + 1) / 6;  // 1 + 4 + … + ranks²
  std::optional<Wrong> wrong;
  for (uint64_t i = 0; i < sums.size(); ++i) {
    const auto wanted = static_cast<float>(ranks * of_place(i, seed) + squares);
    if (sums[i] == wanted) continue;
    if (!wrong) wrong = Wrong{.offset = i, .wanted = wanted, .got = sums[i]};
    ++wrong->count;
  }
  return wrong;
}

void add(float* result, const float* own, const float* arrived, uint64_t count) {
  // Blocks of a length that the compiler knows, with a place of their own, become vector instructions.
  constexpr uint64_t kBlock = 16;
  uint64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    float sum[kBlock];
    for (uint64_t j = 0; j < kBlock; ++j) sum[j] = own[i + j] + arrived[i + j];
    std::ranges::copy(sum, result + i);
  }
  for (; i < count; ++i) result[i] = own[i] + arrived[i];
}

}  // namespace railbed::perf::collective
