// SPDX-License-Identifier: Apache-2.0
// Medians of rows and columns of a mesh, and its bad pairs.
//
// Why separate from analysis: this processes every pair, 67 million of them for 4,096 hosts with 8 rails; the decisions
// from the medians process NICs. Codes of LogValue are compared as integers, and a row's median is selected by counting
// its codes, so that there is no sorting.
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "perf/mesh/analysis.h"

namespace railbed::perf::mesh {

// The element that (count-1)/2 others are not above, or with `upper` count/2: for an even count there are two medians.
enum class Middle : uint8_t { kLower, kUpper };
uint16_t median_code(std::span<uint16_t> codes, Middle middle);  // at least one; changes their order

// One for each host: the median of what its NIC on `rail` has of `metric`. Pairs that cross leaves are the yardstick
// where there are any: what a pair within a leaf has is moved by the usual difference between the two.
std::vector<std::optional<int>> row_medians(const MeshResults& results, uint32_t rail, Metric metric);

// A pair of NICs with outages, or that failed.
struct BadPair {
  Nic first;
  Nic second;
};
// Counts `tried`, `bad` and `failed` of the NICs, which are host after host, rail after rail.
void count_pairs(const MeshResults& results, std::vector<NicFigures>& nics);
// Calls `each` with both NICs and what was measured, for all pairs that the rounds have, in the schedule's order.
template <typename Each>
void each_pair(const MeshResults& results, Each each) {
  Round round;
  const uint32_t rails = results.fabric().rail_count();
  for (const auto& [number, pairs] : results.rounds()) {
    results.schedule().round(number, round);
    for (uint32_t rail = 0; rail < rails; ++rail)
      for (size_t i = 0; i < round.pairs.size(); ++i)
        each(Nic{round.pairs[i].first, rail},
             Nic{round.pairs[i].second, results.schedule().partner_rail(rail, round.rail_offset)},
             pairs[rail * round.pairs.size() + i]);
  }
}
template <typename Each>
void each_bad_pair(const MeshResults& results, Each each) {
  each_pair(results, [&](Nic first, Nic second, const PairResult& pair) {
    if (pair.went_wrong()) each(BadPair{first, second});
  });
}

}  // namespace railbed::perf::mesh
