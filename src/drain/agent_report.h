// SPDX-License-Identifier: Apache-2.0
// What an agent says about the drain of its node.
//
// Why: the operator evicts only after the agent has withdrawn the VFs that will change (kWithdraw of a step), and ends
// a drain only after the agent has applied the change. An agent's report can only make the operator wait: what is
// evicted is decided by the operator's own objects. Threading: plain values. Failure: read_agent_report, Invalid with
// the field. A report that cannot be read counts as none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::drain {

// Of the node state; the agent writes it.
inline constexpr std::string_view kReportAnnotation = "railbed.dev/drain-report";

struct AgentReport {
  std::string change = {};                  // NodeDrain::change that it answers
  std::vector<std::string> withdrawn = {};  // NodeDrain::resources of which no free VF is offered, in order
  bool applied = false;                     // nothing is left to do but a restart
  std::string failure = {};                 // why it cannot be applied
  std::string boot_id = {};
  friend bool operator==(const AgentReport&, const AgentReport&) = default;
};

// One line of JSON; empty for nothing to report.
std::string to_text(const AgentReport& report);
Result<AgentReport> read_agent_report(std::string_view text);

}  // namespace railbed::drain
