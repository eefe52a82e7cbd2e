// SPDX-License-Identifier: Apache-2.0
// For tests: results as to_json() wrote them, in one step. Threading: pure. Failure: as of its two steps.
#pragma once

#include "perf/measurement.h"

namespace railbed::perf {

inline Result<std::vector<Measurement>> measurements_from_json(std::string_view text) {
  return measurements_from(TRY(read_result(text)));
}

}  // namespace railbed::perf
