// SPDX-License-Identifier: Apache-2.0
// For tests: the jitter of a rail that was never measured.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>

#include "perf/jitter/jitter_report.h"

namespace railbed::perf {

// 2,000 probes in two seconds, which take 10 us and `extra_ns`, a tenth of it for waking up; one takes 5 ms.
inline JitterRound test_jitter_round(PathLoad load, int64_t begun_s, uint64_t extra_ns) {
  JitterRound out{.load = load, .since_start_s = static_cast<double>(begun_s)};
  out.started_at = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000 + begun_s));
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t whole_ns = i == 1250 ? 5'000'000 : 10'000 + extra_ns + i % 100 * 10;
    out.probes.probes.push_back({.due_ns = i * 1'000'000, .whole_ns = whole_ns, .sending_ns = whole_ns / 10});
  }
  out.probes.duration_ns = 2'000'000'000;
  out.load_gbps = load == PathLoad::kLoaded ? 300 : 0;
  out.load_ended_early = load == PathLoad::kLoaded && begun_s == 9;
  return out;
}

// By a software clock.
inline JitterReport test_jitter(std::string label, int repeats = 3, bool with_load = true) {
  JitterReport report{.version = "0.1.0",
                      .started_at = "2023-11-14T22:13:20.000Z",
                      .command = "railbed perf jitter 10.0.0.1 --label <rail>",
                      .label = std::move(label),
                      .client = {.hostname = "a", .address = "10.0.0.2", .netdev = "net1", .device = "mlx5_0"},
                      .server = {.hostname = "b", .address = "10.0.0.1", .device = "mlx5_1"},
                      .size_bytes = 8,
                      .rate_per_s = 1000,
                      .duration_s = 2};
  std::vector<JitterRound> rounds;
  for (int i = 0; i < repeats; ++i) {
    rounds.push_back(test_jitter_round(PathLoad::kIdle, 6 * i, 0));
    if (with_load) rounds.push_back(test_jitter_round(PathLoad::kLoaded, 6 * i + 3, 50'000));
  }
  summarise(rounds, report);
  return report;
}

}  // namespace railbed::perf
