// SPDX-License-Identifier: Apache-2.0
// A design as manifests, and as a table of its calculation.
//
// One network per rail and a test pod per node with all rails. If all nodes have their rails at the same PCI addresses,
// one policy per rail applies to all of them; otherwise one per rail and node.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"
#include "generate/design.h"

namespace railbed::generate {

std::vector<doc::Value> manifests(const Design& design);
// All manifests as one YAML stream, with a comment that names their source.
std::string to_yaml(const Design& design);

}  // namespace railbed::generate
