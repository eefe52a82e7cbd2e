// SPDX-License-Identifier: Apache-2.0
// The CustomResourceDefinitions that railbed installs in a cluster that has none: kinds of
// sriovnetwork.openshift.io/v1, NetworkAttachmentDefinition, and railbed's own AddressCell.
//
// Why: groups, kinds and keys are those of users' existing manifests, and no field that the SR-IOV operator's own
// definitions store is pruned. They add: limits, enumerations and rules (CEL) that `check` has too, a status with
// conditions, and columns of `kubectl get` that show where a policy applies and why not. deploy/crds/ has them as
// files, which a test compares with the output of this code.
// Spec: apiextensions.k8s.io/v1; Kubernetes 1.27 or later (CEL). From 1.30 on there is ratcheting: an old object that
// violates a rule can still be changed elsewhere.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"

namespace railbed::controller {

struct CustomResource {
  std::string group;
  std::string kind;
  std::string plural;
  doc::Value definition;  // the whole CustomResourceDefinition

  std::string name() const { return plural + "." + group; }
};

// All of them, in the order in which they are installed.
std::vector<CustomResource> custom_resources();

}  // namespace railbed::controller
