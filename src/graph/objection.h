// SPDX-License-Identifier: Apache-2.0
// Reasons not to apply a policy on a PF.
//
// Why: the operator tries and fails late, resets the PF on errors, or disconnects the host's own network. Everything
// that can be known in advance is found here, per PF, so that the rest of the node continues.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "doc/diagnostic.h"
#include "graph/graph.h"

namespace railbed::graph {

struct Objection {
  std::string id;
  doc::Span span;
  std::string reason;
  std::string fix;
  std::string needs_reboot;  // as Refusal::needs_reboot
  doc::Says explains = doc::Says::kOther;
};

// Why this NIC cannot give what the group requests.
std::optional<Objection> objection(const VfGroup& group, const facts::Nic& nic, const facts::NodeFacts& node);
// Why the PF cannot take the merged policies: the host uses it, or VFs made by others do not fit.
std::optional<Objection> objection(const PfWanted& wanted, const facts::NodeFacts& node);
// Warnings about combinations that are unusual but possible.
void warn(const VfGroup& group, const facts::Nic& nic, const Graph& graph, doc::Diagnostics& diagnostics);

// Whether the PF itself must change: its VF count, MTU, eswitch mode, or from down to up.
bool changes_pf(const PfWanted& wanted);

}  // namespace railbed::graph
