// SPDX-License-Identifier: Apache-2.0
// The sizes and bandwidths of an all-reduce, as nccl-tests defines them.
//
// Why: users compare the results with those of nccl-tests. algbw is the size divided by the time; busbw is the
// resulting load of the links, independent of the number of ranks, algbw · 2(n-1)/n, so that it can be compared with
// the link's rate. Both in GB/s (1e9 bytes).
// Threading: pure.
// Failure: Code::kInvalid names the option.
// Source: nccl-tests, doc/PERFORMANCE.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"

namespace railbed::perf::collective {

inline constexpr uint64_t kLargest_bytes = 1ULL << 30;  // per rail

double algbw_gbytes_per_s(uint64_t size_bytes, double time_us);
double busbw_gbytes_per_s(double algbw_gbytes_per_s, uint32_t ranks);

// `smallest`, times `factor` and so on, up to `largest`; each rounded down to whole elements.
Result<std::vector<uint64_t>> sizes_between(uint64_t smallest_bytes, uint64_t largest_bytes, int64_t factor);

}  // namespace railbed::perf::collective
