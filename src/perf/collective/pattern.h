// SPDX-License-Identifier: Apache-2.0
// The numbers that are reduced, and whether a sum is right.
//
// Why: a fast path that loses, duplicates or misplaces data is worse than a slow one. Each element differs from its
// neighbours and between ranks, so that a part that arrived twice, from another rank, from an earlier all-reduce or in
// another place gives a different sum; all sums are integers below 2^24, which float32 represents exactly in any order
// of addition.
// Threading: pure.
// Failure: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace railbed::perf::collective {

// The first element that is wrong, and how many are.
struct Wrong {
  uint64_t offset = 0;  // of the element
  double wanted = 0;
  double got = 0;  // a number that is none (NaN): nothing was written there
  uint64_t count = 0;
  friend bool operator==(const Wrong&, const Wrong&) = default;
};

// `seed` makes one all-reduce's data differ from another's.
void fill_input(std::span<float> out, uint32_t rank, uint32_t seed);
// So that a sum of before is not taken for the one that is due.
void spoil(std::span<float> out);
std::optional<Wrong> find_wrong(std::span<const float> sums, uint32_t ranks, uint32_t seed);

// result = own + arrived, element by element.
void add(float* result, const float* own, const float* arrived, uint64_t count);

}  // namespace railbed::perf::collective
