// SPDX-License-Identifier: Apache-2.0
// Jitter of rails, idle and under load: a table of all of them, and each with its parts, intervals and worst windows.
// Without script.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/jitter/jitter_report.h"
#include "report/html_type.h"
#include "report/section.h"

namespace railbed::report {

Section jitter_section(const std::vector<perf::JitterReport>& reports);
Html jitter_html(const std::vector<perf::JitterReport>& reports);
// "higher: p50, p99; unclear: p99.9", or why nothing is compared.
std::string load_does(const perf::JitterReport& report);

}  // namespace railbed::report
