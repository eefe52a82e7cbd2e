// SPDX-License-Identifier: Apache-2.0
// For tests: a complete mesh file, to which a coordinator appends its pieces.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <string>

#include "perf/mesh/mesh_file.h"

namespace railbed::perf::mesh {

inline std::string mesh_file(const MeshResults& results) {
  std::string out = mesh_file_head(results);
  for (const auto& [round, pairs] : results.rounds()) out += mesh_file_round(results, round);
  for (const LostHost& lost : results.lost()) out += mesh_file_lost(lost);
  return out + mesh_file_end(results);
}

}  // namespace railbed::perf::mesh
