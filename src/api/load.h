// SPDX-License-Identifier: Apache-2.0
// Manifest texts → Objects.
//
// Multi-document YAML or JSON, `kind: List` expanded. Objects are never partially read: an object with an error is left
// out of the result and reported; all other objects are returned.
// Threading: pure function.
// Failure: diagnostics with ids RB-YAML-…, RB-JSON-…, RB-API-….
#pragma once

#include <span>
#include <vector>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// Which objects are compared with the schemas of their kinds.
enum class Compared : uint8_t {
  kReadKinds,  // those that are read, without their status
  kAllKinds,   // all of which the kind has a schema, whole
};

Objects load(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& diagnostics);
// The same for documents that are already parsed.
Objects load_documents(std::span<const doc::Value* const> documents, doc::Diagnostics& diagnostics,
                       Compared compared = Compared::kReadKinds);

// On a definition: the network that it was made of, "SriovNetwork.sriovnetwork.openshift.io/NAMESPACE/NAME".
inline constexpr std::string_view kOwnerAnnotation = "sriovnetwork.openshift.io/owner-ref";
std::string owner_ref(const Kind& kind, std::string_view ns, std::string_view name);

// The NetworkAttachmentDefinition that the SR-IOV operator makes of a SriovNetwork or SriovIBNetwork: same
// keys, same order. `resource_prefix` is "openshift.io" unless the operator was configured otherwise.
NetworkAttachmentDefinition render(const SriovNetwork& network, std::string_view resource_prefix = "openshift.io");

// The value of annotation k8s.v1.cni.cncf.io/networks; element positions inside the manifest where possible.
std::vector<NetworkSelection> parse_networks_annotation(const doc::Value& text, std::string_view pod_namespace,
                                                        doc::Diagnostics& diagnostics);

}  // namespace railbed::api
