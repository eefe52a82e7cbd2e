// SPDX-License-Identifier: Apache-2.0
// Collectives as the report shows them: a line for each run and algorithm, by size.
//
// Why: several runs are compared (before and after, one number of ranks and its double, RDMA and TCP), and charts,
// table and terminal must use the same names for them.
// Threading: pure; a series refers to the runs it was created from.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/collective/collective.h"

namespace railbed::report {

struct CollectiveSeries {
  const perf::collective::CollectiveRun* run = nullptr;
  std::string name;  // of the run
  perf::collective::Algorithm algorithm = perf::collective::Algorithm::kRing;
  std::vector<const perf::collective::SizeResult*> sizes;  // the smallest first; not empty
};

// The label, or what it was over ("4 ranks, 2 rails"); runs that would share a name get "(2)", "(3)", …
std::vector<std::string> names_of(const std::vector<perf::collective::CollectiveRun>& runs);
std::vector<CollectiveSeries> series_of(const std::vector<perf::collective::CollectiveRun>& runs);

std::string transport_text(const perf::collective::CollectiveRun& run);  // "RDMA", "RDMA (soft)", "TCP"
// How many elements were wrong, of all ranks and rails.
uint64_t wrong_elements(const perf::collective::SizeResult& size);
// Who is slow on each rail where one is: "node-2", "node-1 → node-2 on rail0"; "": none is.
std::string slow_text(const perf::collective::CollectiveRun& run, const perf::collective::SizeResult& size);

}  // namespace railbed::report
