// SPDX-License-Identifier: Apache-2.0
// Devices by claims (dynamic resource allocation): what ResourceClaims and DeviceClasses of the checked files give
// pods.
//
// Why: a pod with a claim for a VF needs no extended resource, and with the operator's gate no device plugin offers
// one. Rules that count extended resources must know both. Threading: immutable; points into the Input, which must
// outlive it. Failure: none; what is not known is "may".
#pragma once

#include <string_view>
#include <vector>

#include "check/rules/rule.h"

namespace railbed::check {

class DynamicAllocation {
 public:
  explicit DynamicAllocation(const Input& in);

  // Whether the SR-IOV operator runs a DRA driver instead of its device plugin, and where that is said.
  bool ends_device_plugin() const { return gate_ != nullptr; }
  const doc::Value* gate() const { return gate_; }

  // Whether one of the pod's claims is for a network device. True for claims that are defined elsewhere.
  bool may_give_networks(const PodTemplate& pod) const;

 private:
  bool is_of_network(const Document& claim) const;

  const Input& in_;
  const doc::Value* gate_ = nullptr;
};

// Whether a DeviceClass, by its name or its driver, has network devices: "sriovnetwork.k8snetworkplumbingwg.io".
bool is_network_class(std::string_view name);

// Removes findings about networks without a resource that a claim names (netAttachDefName): their device comes by
// claim.
void drop_what_claims_give(const Bundle& bundle, doc::Diagnostics& findings);

}  // namespace railbed::check
