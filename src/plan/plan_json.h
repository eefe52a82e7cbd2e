// SPDX-License-Identifier: Apache-2.0
// A plan for programs.
//
//   {"node": "n1", "changes": true, "softRdma": false,
//    "pfs": [{"pf": "0000:01:00.0", "name": "eth0", "steps": [{"id": "0000:01:00.0/vf-count", "action":
//    "SetVfCount", "from": 0, "to": 4, "text": "create 4 VFs", "reason": …, "policy": …, "disturbs":
//    "nothing", "pods": []}, …]}], "heldBack": […], "policies": […], "resources": {"openshift.io/a": […]},
//    "pods": […], "podsDecided": true, "podSteps": [{"id": "llm/a/attach", "pod": "llm/a", "action": "Attach",
//    "text": …, "reason": …, "interfaces": [{"interface": "net1", "network": "llm/rail0", "device": "VF 0 of eth0",
//    "why": ""}], "wholePod": false, "disturbs": "nothing"}, …]}
//
// Steps of pods whose action is not "Attach" come before those of "pfs", the others after them. "podsDecided" is false
// for nodes whose state is not available; then there are no "podSteps".
//
// Keys are stable; new ones may be added.
// Threading: pure function.
// Failure: none.
#pragma once

#include "doc/value.h"
#include "plan/step.h"

namespace railbed::plan {

doc::Value to_value(const NodePlan& plan);

}  // namespace railbed::plan
