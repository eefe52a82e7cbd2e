// SPDX-License-Identifier: Apache-2.0
// The embedded files: uPlot (third_party/uplot) and the report's own style and script.
//
// Why: the report must open without a network, and the program is one file.
// Threading: constants.
// Failure: none.
#pragma once

#include <string_view>

namespace railbed::report {

std::string_view uplot_script();
std::string_view uplot_licence();  // which every copy has to have with it
std::string_view uplot_style();
std::string_view report_script();
std::string_view report_style();

}  // namespace railbed::report
