// SPDX-License-Identifier: Apache-2.0
// NetworkAttachmentDefinitions from SriovNetworks and SriovIBNetworks: which to write, which to delete.
//
// Why: a definition is usually in another namespace than its network. Kubernetes' garbage collector deletes objects
// whose owner is in another namespace, and a finalizer on the network blocks its deletion when the operator no longer
// runs. So a definition in the network's namespace has an ownerReference, one elsewhere a label with the network's UID,
// and definitions whose UID belongs to no network are deleted. But networks that were deleted with the
// CustomResourceDefinition of their kind were not deleted intentionally: each definition also has the UID of that
// CustomResourceDefinition, and is deleted only while the same one exists; otherwise it is retained until its network
// is re-created. The rendered JSON is the SR-IOV operator's (api::render). Third-party definitions of the same name are
// not changed, and the network's status reports them.
// Threading: pure.
// Failure: none.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "doc/value.h"

namespace railbed::controller {

inline constexpr std::string_view kNetworkUidLabel = "railbed.dev/network-uid";
// An annotation: the UID of the CustomResourceDefinition under which the network was stored.
inline constexpr std::string_view kNetworkKindUid = "railbed.dev/network-kind-uid";

// A SriovNetwork or SriovIBNetwork as stored.
struct StoredNetwork {
  std::string uid;
  api::SriovNetwork network;
  std::string kind_uid;  // of its CustomResourceDefinition; empty where that is not known now
};

// A NetworkAttachmentDefinition as stored.
struct StoredAttachment {
  std::string ns, name, uid, resource_version;
  std::string network_uid;  // the label; empty: not ours
  std::string kind_uid;     // the annotation; empty: of an earlier version
  std::string owner_ref;    // annotation sriovnetwork.openshift.io/owner-ref
  std::string resource;     // annotation k8s.v1.cni.cncf.io/resourceName
  std::string config;       // spec.config
};

struct AttachmentWrites {
  struct Deletion {  // with these as preconditions: an object that was changed since is evaluated again
    std::string ns, name, uid, resource_version;
    friend bool operator==(const Deletion&, const Deletion&) = default;
  };
  struct NetworkOutcome {  // as a network's condition Ready
    std::string uid;
    std::string reason;   // "NetworkReady", "NamespaceNotFound", "NameTaken"
    std::string message;  // empty when it is ready
    friend bool operator==(const NetworkOutcome&, const NetworkOutcome&) = default;
  };
  std::vector<doc::Value> applies;  // whole objects, for server-side apply
  std::vector<Deletion> deletions;
  std::vector<Deletion> kept;            // would be deleted, but their networks may have gone with their kind
  std::vector<NetworkOutcome> outcomes;  // as `networks`
};

// `networks`, `attachments` and `namespaces` are all that there are: with a list that is not complete, the sweep would
// delete what it does not know. `kinds` are the UIDs of the CustomResourceDefinitions of networks that are there.
AttachmentWrites attachment_writes(const std::vector<StoredNetwork>& networks,
                                   const std::vector<StoredAttachment>& attachments,
                                   const std::set<std::string>& namespaces, std::string_view resource_prefix,
                                   const std::set<std::string>& kinds);

}  // namespace railbed::controller
