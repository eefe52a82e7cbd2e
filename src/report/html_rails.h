// SPDX-License-Identifier: Apache-2.0
// The rails' results: side by side, and large key figures for few rails. Jitter comes first, because a job with all
// ranks in step waits for it.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <vector>

#include "report/html_type.h"
#include "report/rail_figures.h"

namespace railbed::report {

Html rails_html(const std::vector<RailFigures>& rails);

// The rails that are worth a look first, at most `most`: half of them for their jitter, half for their bandwidth; in
// the order in which they were measured.
std::vector<const RailFigures*> worst_rails(const std::vector<RailFigures>& rails, size_t most);

}  // namespace railbed::report
