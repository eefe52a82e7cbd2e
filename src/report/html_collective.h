// SPDX-License-Identifier: Apache-2.0
// Collectives in the report: all of them side by side, their charts by size, and each with its sizes, ranks and steps.
// Only the charts need scripts.
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "perf/collective/collective.h"
#include "report/html_type.h"
#include "report/section.h"

namespace railbed::report {

Section collectives_section(const std::vector<perf::collective::CollectiveRun>& runs);
Html collectives_html(const std::vector<perf::collective::CollectiveRun>& runs);

}  // namespace railbed::report
