// SPDX-License-Identifier: Apache-2.0
// The VFs that the kubelet has given to pods: which pod has each, and under which name of a resource.
//
// Why the name: one VF may be offered under another name than the one that a running pod has it under, after the prefix
// of resource names or the resourceName of a policy has changed. The kubelet counts names, not VFs: it would give the
// VF away twice.
// Threading: plain values.
// Failure: none.
#pragma once

#include <map>
#include <set>
#include <string>

#include "plan/plan.h"

namespace railbed::kubelet {

struct AllocatedVfs {
  plan::InUse pods;
  std::map<PciAddress, std::set<std::string>> resources;  // "openshift.io/rail0"
};

}  // namespace railbed::kubelet
