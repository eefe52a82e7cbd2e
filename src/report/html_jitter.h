// SPDX-License-Identifier: Apache-2.0
// Jitter of rails, idle and under load: a table of all of them, and each with its parts, intervals and worst windows.
// Without script.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "report/jitter_page.h"

namespace railbed::report {

std::string jitter_html(const std::vector<JitterPage>& pages);

}  // namespace railbed::report
