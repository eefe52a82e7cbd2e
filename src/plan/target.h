// SPDX-License-Identifier: Apache-2.0
// The desired state of one PF, independent of its origin, and the steps that reach it from the current state.
//
// Why: policies and the restore of a baseline need the same care (order, VFs in use, one bind per VF), so both are
// converted to this value and one function creates the steps.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/node_facts.h"
#include "plan/plan.h"

namespace railbed::plan {

struct Why {
  std::string reason;
  std::string policy;
};

struct VfTarget {
  std::optional<DeviceType> device_type;  // absent: its driver is left as it is
  int mtu = 0;                            // 0: stays as it is
  // Set when the VF is made, or is bound again and has none.
  std::optional<MacAddress> mac;
  std::optional<Guid> guid;
  const Why* why = nullptr;
};

struct PfTarget {
  const facts::Nic* nic = nullptr;
  std::string name;
  bool pf_is_ours = true;  // false: externally managed, only VFs are configured
  int num_vfs = 0;
  std::optional<int> mtu;
  std::optional<bool> up;
  std::optional<EswitchMode> eswitch_mode;
  std::optional<bool> autoprobe;  // the value after the last step
  Why count_why, mtu_why, eswitch_why, why;
  std::vector<VfTarget> vfs;  // num_vfs of them
};

struct PfSteps {
  std::vector<Step> steps;
  std::vector<HeldBack> held_back;
  int num_vfs = 0;  // after the steps
};

PfSteps steps_to(const PfTarget& target, const InUse& in_use, const Options& options);

// The pod that holds the VF, kUnknownHolder, or an empty text.
std::string holder_of(const facts::Vf& vf, const facts::Nic& nic, const InUse& in_use);

}  // namespace railbed::plan
