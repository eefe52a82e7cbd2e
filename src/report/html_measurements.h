// SPDX-License-Identifier: Apache-2.0
// Every value of a measurement as a table, and how it was measured: the report's last part.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/measurement.h"

namespace railbed::report {

// Folded, one after the other. Of very many the first ones; the report says how many more there are.
std::string measurements_html(const std::vector<perf::Measurement>& measurements);
// Which versions measured, and what the measured ends are: links, PCIe, MTU.
std::string environment_html(const std::vector<perf::Measurement>& measurements);

}  // namespace railbed::report
