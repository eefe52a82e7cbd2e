// SPDX-License-Identifier: Apache-2.0
// Every value of a measurement as a table, and how it was measured: the report's last part.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "perf/measurement.h"
#include "report/html_type.h"

namespace railbed::report {

// Folded, one after the other. Of very many the first ones; the report says how many more there are.
Html measurements_html(const std::vector<perf::Measurement>& measurements);
// Which versions measured, and what the measured ends are: links, PCIe, MTU.
Html environment_html(const std::vector<perf::Measurement>& measurements);

}  // namespace railbed::report
