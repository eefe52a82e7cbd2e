// SPDX-License-Identifier: Apache-2.0
// The findings of a mesh, for people: lines of text.
//
// Names of hosts, rails and leaves are external input: control characters are shown as escapes.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "perf/mesh/bands.h"
#include "perf/mesh/outliers.h"
#include "perf/mesh/results.h"

namespace railbed::perf::mesh {

// What was measured and what was not: "64 hosts, 4 rails, full, same-rail: 8064 of 8064 pairs of NICs measured".
std::vector<std::string> coverage_lines(const MeshResults& results);

// A line for each outlier and symptom, in columns; or one that says that nothing stands out, and from where on
// something would.
std::vector<std::string> outlier_lines(const Fabric& fabric, const Analysis& analysis,
                                       const std::vector<Outlier>& outliers, const Limits& limits);

std::vector<std::string> band_lines(const Fabric& fabric, const std::vector<OutOfBand>& found);
std::vector<std::string> comparison_lines(const Fabric& fabric, const Comparison& comparison);

// "391.2", and "0.02" where one digit would say nothing.
std::string gbps_text(double gbps);

// "host3 rail1".
std::string name_of(const Fabric& fabric, Nic nic);

}  // namespace railbed::perf::mesh
