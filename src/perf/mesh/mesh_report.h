// SPDX-License-Identifier: Apache-2.0
// The result of a mesh: for people as lines, for programs as a value (schema railbed.mesh/v1, docs/mesh.md).
//
// Why: outliers depend on their context: which endpoints were skipped and why, the expectations, the earlier results,
// and whether the measurements are of software. Texts from endpoints have been sanitized (mesh_message.h).
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doc/value.h"
#include "perf/mesh/bands.h"
#include "perf/mesh/coordinator.h"
#include "perf/result_envelope.h"

namespace railbed::perf::mesh {

// What a run is held against, where that was asked for.
struct HeldAgainst {
  std::optional<Bands> bands;
  std::vector<OutOfBand> out_of_bands;
  std::optional<Comparison> comparison;
};

// Whether anything is wrong in it, or missing.
bool is_clean(const MeshRun& run, const HeldAgainst& against);

std::vector<std::string> report_lines(const MeshRun& run, const HeldAgainst& against, const Limits& limits);

inline constexpr ResultName kMeshName{"Mesh", "railbed.mesh/v1"};
doc::Value to_value(const MeshRun& run, const HeldAgainst& against);

}  // namespace railbed::perf::mesh
