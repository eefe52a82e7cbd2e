// SPDX-License-Identifier: Apache-2.0
// What a report says first about measured rails: one sentence, and the findings and figures behind it.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "report/rail_figures.h"
#include "report/section.h"

namespace railbed::report {

// kGood: every rail carries what its link can, within kBandFrom and kBandTo (rail_findings.h), and nothing speaks
// against any of them.
Assessment assess(const std::vector<RailFigures>& rails);

}  // namespace railbed::report
