// SPDX-License-Identifier: Apache-2.0
// For tests: a report of measurements, as `perf report` makes it of a file of them.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/html.h"
#include "report/measurements_section.h"

namespace railbed::report {

inline Report report_of(const std::vector<perf::Measurement>& measurements, std::string title = "t",
                        std::vector<NodeStatus> nodes = {}) {
  return {.title = std::move(title),
          .sections = {measurements_section(measurements)},
          .results = measurements.empty() ? "" : perf::to_json(measurements),
          .nodes = std::move(nodes)};
}

}  // namespace railbed::report
