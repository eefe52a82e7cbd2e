// SPDX-License-Identifier: Apache-2.0
// What stands against carrying out a policy on a PF.
//
// Why: the operator tries and fails late, resets the PF on errors, or cuts the host's own network. Everything
// that can be known before is found here, per PF, so that the rest of the node goes on. Threading: pure
// functions. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doc/diagnostic.h"
#include "graph/graph.h"

namespace railbed::graph {

// On a policy: the PF may be one that the host uses. Making VFs resets the link of many NICs for a moment.
inline constexpr std::string_view kAllowHostPf = "railbed.dev/allow-host-pf";

struct Objection {
  std::string id;
  doc::Span span;
  std::string reason;
  std::string fix;
  std::string needs_reboot;  // as Refusal::needs_reboot
};

// What this policy asks of this NIC and cannot have.
std::optional<Objection> objection(const Policy& policy, const facts::Nic& nic, const facts::NodeFacts& node);
// What stands against the merged wish: the host uses the PF, or VFs that others made do not fit.
std::optional<Objection> objection(const PfWanted& wanted, const facts::NodeFacts& node);
// Odd, but done all the same.
void warn(const Policy& policy, const facts::Nic& nic, const Graph& graph, doc::Diagnostics& diagnostics);

// Whether the PF itself must change: VF count, MTU, eswitch mode, or it is down.
bool changes_pf(const PfWanted& wanted);
// "address 10.0.0.5/24, default route, port of bond0, carries vlan eth0.7"; empty: the host does not use it.
// IPv6 link-local addresses do not count: every interface that is up has one.
std::string host_use(const facts::Nic& nic, const facts::NodeFacts& node);

}  // namespace railbed::graph
