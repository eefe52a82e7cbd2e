// SPDX-License-Identifier: Apache-2.0
// The charts: their places in the page with a sentence for who cannot see them, and the data that html.js draws.
//
// Threading: pure. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "report/html_summary.h"

namespace railbed::report {

// The rails that get charts, in the order in which chart_data() has them.
std::string charts_html(const std::vector<const RailFigures*>& rails);
std::string chart_data(const std::vector<const RailFigures*>& rails);

}  // namespace railbed::report
