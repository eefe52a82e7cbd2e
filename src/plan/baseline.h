// SPDX-License-Identifier: Apache-2.0
// How a PF was before railbed touched it, and the steps back to that.
//
// Why: `down` gives a machine back as it was found, VF counts, drivers, MTUs and modes. The value is recorded
// (by whoever carries plans out) before the first step on a PF. Threading: pure functions. Failure: none;
// changes that would take VFs from pods are held back as in plan.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/node_facts.h"
#include "plan/plan.h"

namespace railbed::plan {

struct VfBaseline {
  VfIndex index;
  std::string driver;  // empty: none was bound
  int mtu = 0;         // 0: its interface was not in this namespace
  std::optional<MacAddress> admin_mac;
  friend bool operator==(const VfBaseline&, const VfBaseline&) = default;
};

struct PfBaseline {
  PciAddress pf;
  std::string pf_name;
  int num_vfs = 0;
  bool autoprobe = true;
  int mtu = 0;  // 0: unknown, so it stays as it is
  bool up = true;
  std::optional<EswitchMode> eswitch_mode;  // absent: none
  std::vector<VfBaseline> vfs;              // may be empty even with num_vfs > 0: then the VFs keep their drivers
  friend bool operator==(const PfBaseline&, const PfBaseline&) = default;
};

// Steps back to the baselines; a PF without one is left alone. The result has no policies, resources or pods.
NodePlan plan_to_baseline(const std::vector<PfBaseline>& baselines, const facts::NodeFacts& facts, const InUse& in_use,
                          const Options& options = {});

}  // namespace railbed::plan
