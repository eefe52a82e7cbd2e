// SPDX-License-Identifier: Apache-2.0
// What `kubectl describe pod` shows for an ADD that failed.
//
// Why not all failures: "try again later" (code 11) is not caused by the pod, and the runtime retries. Why a missing
// device request is named: an injector (a webhook of the SR-IOV operator) writes such requests into pods, and a pod
// that bypassed it lacks them.
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "cni/request.h"
#include "kube/events.h"

namespace railbed::agent {

inline constexpr const char* kEventController = "railbed.dev/agent";

// The pod that a failed request is about: only an ADD of a runtime, which named a pod.
bool is_reported_at_pod(const cni::Request& request, const Error& error);
// `api_uid` is the pod's in the API server; may be empty.
kube::Occurrence occurrence_of(const cni::Request& request, const Error& error, const std::string& api_uid);

}  // namespace railbed::agent
