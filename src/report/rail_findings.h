// SPDX-License-Identifier: Apache-2.0
// What is wrong with measured rails, or limits what can be said of them, a finding each. Ids are explained in
// docs/findings/results.md.
//
// Why: what a report says of rails is decided here, as functions over values, so that each sentence is a test, and can
// be counted, looked up in the result and explained. Threading: pure. Failure: none.
#pragma once

#include <vector>

#include "findings/finding.h"
#include "report/rail_figures.h"

namespace railbed::report {

// The band of measured over possible in which a rail is good. Below, something on the path takes bandwidth; above, the
// link is not what it says.
inline constexpr double kBandFrom = 0.90;
inline constexpr double kBandTo = 1.03;

// What speaks against rails: warnings, rail by rail, then those that differ from the others. Evidence names the member
// of the result (docs/schemas/Measurements.json).
std::vector<findings::Finding> objections(const std::vector<RailFigures>& rails);
// Paths that gave no answer for a while, which are among the objections; where only TCP was measured there are no
// others.
std::vector<findings::Finding> outages(const std::vector<RailFigures>& rails);
// Why good rails cannot be called so: notes.
std::vector<findings::Finding> limits_of_judgement(const std::vector<RailFigures>& rails);

}  // namespace railbed::report
