// SPDX-License-Identifier: Apache-2.0
// For tests: the result of a collective that was never run.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>

#include "perf/collective/bandwidth.h"
#include "perf/collective/collective.h"

namespace railbed::perf::collective {

// Of `ranks` ranks on one rail; the last one is at work for most of the time.
inline RailResult test_rail(Algorithm algorithm, uint64_t size_bytes, uint32_t rail, uint32_t ranks) {
  RailResult out{.rail = rail, .time_us = 20 + static_cast<double>(size_bytes) / 1000 * (rail + 1)};
  out.algbw_gbytes_per_s = algbw_gbytes_per_s(size_bytes, out.time_us);
  out.busbw_gbytes_per_s = busbw_gbytes_per_s(out.algbw_gbytes_per_s, ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank)
    out.ranks.push_back({.rank = rank,
                         .mean_us = out.time_us,
                         .p50_us = out.time_us - 1,
                         .max_us = 2 * out.time_us,
                         .waited_p50_us = rank + 1 == ranks ? 1 : out.time_us / 2,
                         .transfer_us = out.time_us / 4,
                         .reduce_us = 2,
                         .own_p50_us = rank + 1 == ranks ? out.time_us / 2 : 3,
                         .own_max_us = out.time_us});
  const bool ring = algorithm == Algorithm::kRing;
  const uint32_t steps = ring ? 2 * (ranks - 1) : 2;
  for (uint32_t step = 0; step < steps; ++step)
    out.steps.push_back({.step = step,
                         .phase = kPhases[(ring ? 0 : 2) + (step < steps / 2 ? 0 : 1)],
                         .waited_us = out.time_us / steps,
                         .transfer_us = out.time_us / steps / 2,
                         .reduce_us = step < steps / 2 ? 1.0 : 0.0,
                         .late_rank = 0,
                         .late_from = ranks - 1,
                         .late_us = 1.5});
  out.straggler = Straggler{.rank = ranks - 1, .took_us = out.time_us / 2, .usual_us = 3, .all_reduce_us = out.time_us};
  return out;
}

// Over TCP, 1 KiB and 1 MiB by ring and by tree, right and complete.
inline CollectiveRun test_run(std::string label, uint32_t ranks, uint32_t rails) {
  CollectiveRun run{.version = "0.1.0",
                    .started_at = "2026-01-02T03:04:05.000Z",
                    .command = "railbed perf collective --tcp",
                    .label = std::move(label),
                    .transport = Transport::kTcp,
                    .iterations = 20,
                    .warm_up = 5};
  for (uint32_t rank = 0; rank < ranks; ++rank) run.ranks.push_back(fmt::format("rank{}", rank));
  for (uint32_t rail = 0; rail < rails; ++rail) run.rails.push_back(fmt::format("rail{}", rail));
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree})
    for (const uint64_t size_bytes : {uint64_t{1024}, uint64_t{1 << 20}}) {
      SizeResult& size = run.results.emplace_back();
      size.algorithm = algorithm;
      size.size_bytes = size_bytes;
      for (uint32_t rail = 0; rail < rails; ++rail) size.rails.push_back(test_rail(algorithm, size_bytes, rail, ranks));
    }
  return run;
}

}  // namespace railbed::perf::collective
