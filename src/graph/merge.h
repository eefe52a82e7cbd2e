// SPDX-License-Identifier: Apache-2.0
// Several policies on one PF: which apply, and which are shadowed.
//
// The operator's rules: policies apply from the highest priority number to the lowest, then by name, and each takes
// over the PF. An earlier policy keeps its VFs only if its range does not overlap the later one's (for equal
// resourceNames too, unlike the operator). If some VFs were kept, or priorities are equal, numVfs and mtu are the
// largest of both. linkType, eSwitchMode and externallyManaged are the last one's; a conflict is reported.
// Threading: pure function.
// Failure: none.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace railbed::graph {

// One policy that selects one PF.
struct Claim {
  VfGroup group;
  int priority = 0;
  bool refused = false;  // still shadows others, but asks for nothing
};

struct Shadowed {
  OriginPtr policy;
  OriginPtr by;
};

struct Merged {
  std::vector<const VfGroup*> contributors;  // those whose numVfs and mtu count, in order; no refused one
  std::vector<VfGroup> groups;               // by first VF; refused claims are left out
  std::vector<Shadowed> shadowed;
};

// `claims` must be in the order of Catalog::policies. The contributors point into them.
Merged merge(const std::vector<Claim>& claims);

}  // namespace railbed::graph
