// SPDX-License-Identifier: Apache-2.0
// Derives from the times of all ranks which rank waited for which, and which was slow.
//
// Why: in an all-reduce every rank waits for the slowest, so all have the same total time, and the slow one waits
// least. Its neighbour's waiting is separated from the transfer time of the data: with RDMA the sender knows it (until
// the peer's card had it), over sockets the receiver (from the first byte to the last). A rank is called slow if its
// own work takes more than twice what is usual for the others and costs a tenth of the all-reduce (in a tree, of others
// with as many neighbours; the root has none); else a link, if its transfer time exceeds that of others by as much.
// Threading: pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "perf/collective/collective_message.h"

namespace railbed::perf::collective {

// Medians over iterations of whole all-reduces.
struct RankFigures {
  uint32_t rank = 0;
  double mean_us = 0;
  double p50_us = 0;
  double p99_us = 0;  // 0: too few iterations
  double max_us = 0;
  double waited_p50_us = 0;  // until data was there
  double waited_p99_us = 0;  // 0: too few iterations
  double transfer_us = 0;    // of which it was on its way: the steps' sum
  double reduce_us = 0;      // adding: the steps' sum
  double own_p50_us = 0;     // what it did itself, adding included
  double own_max_us = 0;
  friend bool operator==(const RankFigures&, const RankFigures&) = default;
};

// One step of an all-reduce over all ranks that receive in it; what was waited is the mean over iterations. Of a tree,
// steps are "up" and "down".
struct StepFigures {
  uint32_t step = 0;
  std::string_view phase;
  double waited_us = 0;    // median over ranks
  double transfer_us = 0;  // median over ranks
  double reduce_us = 0;    // median over ranks
  // The rank that waited longest beyond the time that the data was on its way, and the one that it waited for.
  uint32_t late_rank = 0;
  uint32_t late_from = 0;
  double late_us = 0;
  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};

struct Straggler {
  std::optional<uint32_t> rank;  // a slow rank; else the link
  uint32_t from = 0;
  uint32_t to = 0;
  double took_us = 0;   // its own work, or its transfers
  double usual_us = 0;  // the median of the others
  double all_reduce_us = 0;
  friend bool operator==(const Straggler&, const Straggler&) = default;
};

// Of one rail: an element for each rank, in their order.
std::vector<RankFigures> rank_figures(Algorithm algorithm, const std::vector<RankTimes>& all);
std::vector<StepFigures> step_figures(Algorithm algorithm, const std::vector<RankTimes>& all);
std::optional<Straggler> find_straggler(Algorithm algorithm, const std::vector<RankTimes>& all);

}  // namespace railbed::perf::collective
