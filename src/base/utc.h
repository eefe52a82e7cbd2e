// SPDX-License-Identifier: Apache-2.0
// A wall-clock time as it appears in results and lines of output.
// Threading: pure.
// Failure: none.
#pragma once

#include <chrono>
#include <string>

namespace railbed {

// "2026-03-01T10:20:30.040Z"
std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace railbed
