// SPDX-License-Identifier: Apache-2.0
// The participants of a mesh: from a file, or from command-line arguments.
//
// Why: hosts, rails and leaves are the subject of the outliers, and only a user or a script knows which NICs belong to
// one rail. The file (YAML or JSON, docs/mesh.md):
//
//   port: 18600                      # of `railbed perf serve`, where a host does not say another one
//   rails: [rail0, rail1]            # names; without them rail0, rail1, …
//   hosts:
//     - name: node-1
//       control: 192.168.0.1         # where it serves; without it the address of its first rail
//       rails:
//         - {address: 10.0.0.1, device: mlx5_0, leaf: leaf-a}   # device and leaf may be left out
//         - {}                       # no NIC on this rail
//
// An argument: `node-1=10.0.0.1,10.1.0.1`, or only the addresses; nothing between two commas means no NIC.
// Threading: pure.
// Failure: Code::kInvalid with line and field, or the argument, and the error.
#pragma once

#include <string>
#include <vector>

#include "perf/mesh/coordinator.h"

namespace railbed::perf::mesh {

// `name` is the file's, for messages.
Result<MeshSetup> setup_of_file(const std::string& name, const std::string& text);
Result<MeshSetup> setup_of_words(const std::vector<std::string>& words, uint16_t port);

}  // namespace railbed::perf::mesh
