// SPDX-License-Identifier: Apache-2.0
// The embedded files: uPlot (third_party/uplot) and the report's own style and script.
//
// Why: the report must open without a network, and the program is one file.
// Threading: constants.
// Failure: none.
#pragma once

#include "report/html_type.h"

namespace railbed::report {

Html uplot_script();
Html uplot_licence();  // which every copy has to have with it
Html uplot_style();
Html report_script();
Html report_style();

}  // namespace railbed::report
