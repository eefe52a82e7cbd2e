// SPDX-License-Identifier: Apache-2.0
// The rails' results as tables for the terminal: the same that the HTML report shows in its cards.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "perf/collective/collective.h"
#include "perf/jitter/jitter_report.h"
#include "report/rail_figures.h"
#include "report/table.h"

namespace railbed::report {

// One row per rail and measured transport: bandwidth at the best size, half the round trip of a small message.
Table rail_table(const std::vector<RailFigures>& rails);
// A row for each rail idle, and one under load: round trips of probes, each from when it was due.
Table jitter_table(const std::vector<perf::JitterReport>& reports);
// A row for each run of a collective, algorithm and size; who was slow, with the largest size of each.
Table collective_table(const std::vector<perf::collective::CollectiveRun>& runs);

}  // namespace railbed::report
