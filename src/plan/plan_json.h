// SPDX-License-Identifier: Apache-2.0
// A plan for programs.
//
//   {"node": "n1", "changes": true, "softRdma": false,
//    "pfs": [{"pf": "0000:01:00.0", "name": "eth0", "steps": [{"id": "0000:01:00.0/vf-count", "action":
//    "SetVfCount", "from": 0, "to": 4, "text": "create 4 VFs", "reason": …, "policy": …, "disturbs":
//    "nothing", "pods": []}, …]}], "heldBack": […], "policies": […], "resources": {"openshift.io/a": […]},
//    "pods": […]}
//
// Keys stay; new ones may come. Threading: pure function. Failure: none.
#pragma once

#include "doc/value.h"
#include "plan/step.h"

namespace railbed::plan {

doc::Value to_value(const NodePlan& plan);

}  // namespace railbed::plan
