// SPDX-License-Identifier: Apache-2.0
// Measurements of bandwidth and latency in a report: the verdict, the rails with their charts, and all figures.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "perf/measurement.h"
#include "report/section.h"

namespace railbed::report {

// Of none it says so.
Section measurements_section(const std::vector<perf::Measurement>& measurements);

}  // namespace railbed::report
