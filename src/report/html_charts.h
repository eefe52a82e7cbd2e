// SPDX-License-Identifier: Apache-2.0
// The charts: their places in the page with a text alternative, and the data that html.js draws.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "report/html_type.h"
#include "report/rail_figures.h"

namespace railbed::report {

// The rails that get charts, in the order in which rails_data() has them.
Html charts_html(const std::vector<const RailFigures*>& rails);
// A list for html.js, as JSON.
std::string rails_data(const std::vector<const RailFigures*>& rails);

}  // namespace railbed::report
