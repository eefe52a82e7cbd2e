// SPDX-License-Identifier: Apache-2.0
// A mesh's results as bytes: written while the mesh runs, readable at every moment.
//
// Why: a mesh of thousands of hosts runs for an hour and may be stopped, and its baseline is kept for months. The file
// is a sequence of sections, each with its own checksum; a round is appended when it is complete, so that a writer that
// fails leaves complete rounds behind. Ten bytes for each pair of NICs, where JSON takes several hundred.
//
//   "RBMESH\r\n", version (u32); then sections: kind (u32), number (u32), size (u64), body, FNV-1a of all that (u64).
//   All numbers are little-endian. Kinds: 1 fabric and schedule (first, once); 2 a round, `number` is which: for each
//   rail a bit for each pair that was run, then the results; 3 a lost host; 4 the end (`number`: rounds).
//   Readers refuse other versions and ignore nothing: an unknown kind is damage.
//
// Reading is bounded: nothing is allocated for what the bytes do not contain, except for the 79 other bits of a pair
// that a round marks as not run.
// Threading: pure.
// Failure: Code::kInvalid with the byte, the section and the error. Once the first section is complete, damage is not a
// failure: `damage` reports it, and the results have all rounds before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "perf/mesh/results.h"

namespace railbed::perf::mesh {

inline constexpr uint32_t kMeshFileVersion = 1;

// The pieces, in the order in which a coordinator appends them; losses may stand between rounds.
std::string mesh_file_head(const MeshResults& results);
std::string mesh_file_round(const MeshResults& results, uint32_t round);  // one that was begun
std::string mesh_file_lost(const LostHost& lost);
std::string mesh_file_end(const MeshResults& results);

// Whether it begins as such a file does.
bool is_mesh_file(std::string_view bytes);

struct MeshFile {
  MeshResults results;
  std::optional<Error> damage;  // absent: the file is whole and ends as it should
};
Result<MeshFile> read_mesh_file(std::string_view bytes);

}  // namespace railbed::perf::mesh
