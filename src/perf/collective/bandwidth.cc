// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/bandwidth.h"

#include "perf/bounds.h"
#include "perf/collective/schedule.h"

namespace railbed::perf::collective {

double algbw_gbytes_per_s(uint64_t size_bytes, double time_us) {
  return time_us > 0 ? static_cast<double>(size_bytes) / time_us / 1e3 : 0;
}

double busbw_gbytes_per_s(double algbw_gbytes_per_s, uint32_t ranks) {
  return algbw_gbytes_per_s * 2 * (ranks - 1) / ranks;
}

Result<std::vector<uint64_t>> sizes_between(uint64_t smallest_bytes, uint64_t largest_bytes, int64_t factor) {
  if (smallest_bytes < kElement_bytes)
    return fail(Code::kInvalid, "--begin: {} bytes are less than one float32, which has {}", smallest_bytes,
                kElement_bytes);
  if (largest_bytes > kLargest_bytes)
    return fail(Code::kInvalid, "--end: {} bytes are more than {} per rail", largest_bytes, kLargest_bytes);
  if (largest_bytes < smallest_bytes)
    return fail(Code::kInvalid, "--end: {} bytes are less than the {} of --begin", largest_bytes, smallest_bytes);
  if (factor < bounds::kFactor.min)
    return fail(Code::kInvalid, "--factor: {} does not make sizes larger; at least {} does", factor,
                bounds::kFactor.min);
  std::vector<uint64_t> sizes;
  for (uint64_t size = smallest_bytes; size <= largest_bytes; size *= static_cast<uint64_t>(factor))
    sizes.push_back(size / kElement_bytes * kElement_bytes);
  return sizes;
}

}  // namespace railbed::perf::collective
