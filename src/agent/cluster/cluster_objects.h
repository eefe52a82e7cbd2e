// SPDX-License-Identifier: Apache-2.0
// Pods and NetworkAttachmentDefinitions from the API server, as the values that an ADD needs.
//
// A static pod is one that the kubelet reads from a file. Its object in the API server, the mirror pod, has a different
// uid; the runtime passes the uid that the kubelet derived from the file, which the mirror pod has in annotations.
// Threading: pure.
// Failure: network_of, Invalid if spec.config is not a JSON object.
#pragma once

#include <string>
#include <string_view>

#include "agent/pod/sources.h"
#include "kube/kinds.h"
#include "kube/object.h"

namespace railbed::agent {

// What is kept of each: of a pod's metadata only what networks need, and what it asks kubelet for.
kube::Trim pod_kept();
kube::Trim network_kept();

// Whether `uid`, which the runtime reported, is this pod's; an empty one is any pod's.
bool is_pod(const doc::Value& pod, const std::string& uid);
// kubelet's own uids of static pods are hashes.
bool is_static_uid(std::string_view uid);
// With `uid` as its uid where that is not empty.
PodInfo pod_of(const doc::Value& pod, const std::string& uid);
Result<NetworkInfo> network_of(const doc::Value& definition);

}  // namespace railbed::agent
