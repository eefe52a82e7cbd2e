// SPDX-License-Identifier: Apache-2.0
// All-reduces of one rank on one rail: executed, timed and verified.
//
// Why: a total time only shows that it is slow; separate times for waiting, transfer and adding show where. The timed
// all-reduces run as a job's do, back to back without a barrier; the last sum is verified, and so is one more
// all-reduce with other data, into memory that was overwritten before.
// Threading: that of the links.
// Failure: as the links; a wrong sum is a value.
#pragma once

#include "perf/collective/rail_links.h"

namespace railbed::perf::collective {

struct Part {
  uint32_t rank = 0;
  uint32_t ranks = 2;
};
Result<RankTimes> run_rail(RailLinks& links, const Part& part, const Reduce& wanted);

// Pure: the value that `percent` of all are not above; 0 where there is none. Changes their order.
uint64_t percentile(std::vector<uint64_t>& values, uint64_t percent);

}  // namespace railbed::perf::collective
