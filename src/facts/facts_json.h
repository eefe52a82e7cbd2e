// SPDX-License-Identifier: Apache-2.0
// Node facts as a document (JSON or YAML) and back, versioned.
//
//   {"apiVersion": "railbed.dev/v1", "kind": "NodeFacts", "version": 1, "node": "worker-1", "nics":
//   [{"address": "0000:3c:00.0", "vendor": "15b3", …, "vfs": […]}], …}
//
// Keys are the fields of node_facts.h in camelCase; a function's PCI fields are direct members of its object. Absent
// facts, empty texts and empty lists are omitted; numbers and booleans never are. 64-bit prefixes are texts
// ("0xfe80000000000000"), since many JSON readers lose their last bits.
// Threading: pure functions; long streams are read by several threads inside.
// Failure: diagnostics with the location: RB-FACTS-001 (a value of the wrong type or format), RB-FACTS-002 (warning: an
// unknown key, with the nearest known one), RB-FACTS-003 (written by a newer railbed), RB-FACTS-004 (no node facts at
// all).
#pragma once

#include <optional>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/value.h"
#include "facts/node_facts.h"

namespace railbed::facts {

doc::Value to_value(const NodeFacts& facts);

// Absent when there were errors.
std::optional<NodeFacts> from_value(const doc::Value& value, doc::Diagnostics& diagnostics);

// All nodes of a file: JSON, or YAML with one or more documents; a List's items count each.
std::vector<NodeFacts> parse_facts(doc::SourcePtr source, doc::Diagnostics& diagnostics);

// Replaces what is not UTF-8 in the texts (names and attributes are any bytes for the kernel), which JSON and YAML
// cannot hold.
void make_utf8(NodeFacts& facts);

}  // namespace railbed::facts
