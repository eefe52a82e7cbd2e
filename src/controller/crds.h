// SPDX-License-Identifier: Apache-2.0
// The CustomResourceDefinitions that railbed brings where a cluster has none: kinds of sriovnetwork.openshift.io/v1,
// NetworkAttachmentDefinition, and railbed's own AddressCell.
//
// Why: groups, kinds and keys are those that people's manifests have already, and nothing that the operator's own
// definitions store is pruned. Beyond them: bounds, enumerations and rules (CEL) that `check` has too, a status with
// conditions, and columns of `kubectl get` that say where a policy applies and why not. deploy/crds/ holds them as
// files, which a test compares with what is made here. Spec: apiextensions.k8s.io/v1; Kubernetes 1.30 or later (CEL,
// ratcheting: an old object that breaks a rule can still be changed elsewhere). Threading: pure. Failure: none.
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
