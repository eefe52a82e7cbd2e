// SPDX-License-Identifier: Apache-2.0
// The charts: their places in the page with a text alternative, and the data that html.js draws.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/json_writer.h"
#include "report/html_summary.h"

namespace railbed::report {

// The rails that get charts, in the order in which write_rails() has them.
std::string charts_html(const std::vector<const RailFigures*>& rails);
// A member of the object that is being written.
void write_rails(perf::JsonWriter& writer, const std::vector<const RailFigures*>& rails);

}  // namespace railbed::report
