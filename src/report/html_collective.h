// SPDX-License-Identifier: Apache-2.0
// Collectives in the report: all of them side by side, their charts by size, and each with its sizes, ranks and steps.
// Only the charts need scripts.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/collective/collective.h"
#include "perf/json_writer.h"

namespace railbed::report {

std::string collectives_html(const std::vector<perf::collective::CollectiveRun>& runs);
// What the charts are drawn of: a member of the object that is being written, where there is something to draw.
void write_collectives(perf::JsonWriter& writer, const std::vector<perf::collective::CollectiveRun>& runs);

}  // namespace railbed::report
