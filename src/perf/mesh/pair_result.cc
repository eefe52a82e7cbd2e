// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/pair_result.h"

namespace railbed::perf::mesh {
namespace {

LogValue scaled(double value, double factor) {
  return value > 0 ? LogValue::of(value * factor) : LogValue();
}

}  // namespace

PairResult compact(const PairMeasurement& measurement) {
  PairResult result{.forward_mbps = scaled(measurement.forward_gbps, 1000),
                    .reverse_mbps = scaled(measurement.reverse_gbps, 1000),
                    .p50_ns = scaled(measurement.p50_us, 1000),
                    .p99_ns = {},
                    .outages = static_cast<uint8_t>(std::min<uint32_t>(measurement.outages, 255))};
  if (measurement.samples >= kSamplesForP99) result.p99_ns = scaled(measurement.p99_us, 1000);
  result.set(PairState::kMeasured, measurement.samples);
  return result;
}

PairResult failed_pair(uint32_t outages) {
  PairResult result{.outages = static_cast<uint8_t>(std::min<uint32_t>(outages, 255))};
  result.set(PairState::kFailed, 0);
  return result;
}

PairResult skipped_pair() {
  PairResult result;
  result.set(PairState::kSkipped, 0);
  return result;
}

}  // namespace railbed::perf::mesh
