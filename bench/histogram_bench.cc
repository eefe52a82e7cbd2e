// SPDX-License-Identifier: Apache-2.0
// The cost per sample in the measuring loops: recording into the histogram, and into the meter with its series.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "perf/series.h"

namespace railbed::perf {
namespace {

// Around 2 µs with a tail up to milliseconds, typical for a fabric.
std::vector<uint64_t> latencies() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> distribution(7.6, 0.5);
  std::vector<uint64_t> values(1 << 14);
  for (uint64_t& value : values) value = static_cast<uint64_t>(distribution(random));
  for (size_t i = 0; i < values.size(); i += 1000) values[i] *= 500;
  return values;
}

void record(benchmark::State& state) {
  const auto values = latencies();
  Histogram histogram;
  size_t i = 0;
  for (auto _ : state) {
    histogram.record(values[i++ & (values.size() - 1)]);
    benchmark::ClobberMemory();
  }
  benchmark::DoNotOptimize(histogram.count());
}
BENCHMARK(record)->Name("histogram_record");

void meter(benchmark::State& state) {
  const auto values = latencies();
  LatencyMeter meter(20'000'000);
  uint64_t at_ns = 0;
  size_t i = 0;
  for (auto _ : state) {
    const uint64_t value = values[i++ & (values.size() - 1)];
    at_ns += 2 * value;
    meter.add(at_ns, value);
    benchmark::ClobberMemory();
  }
  benchmark::DoNotOptimize(meter.histogram().count());
}
BENCHMARK(meter)->Name("latency_meter_add");

}  // namespace
}  // namespace railbed::perf

BENCHMARK_MAIN();
