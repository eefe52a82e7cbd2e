// SPDX-License-Identifier: Apache-2.0
// Which requests may run in parallel.
//
// Why queues: a plugin that is executed for one request may itself request an address, and only the request that it
// belongs to may wait for such a nested request. So addresses have their own threads, and so have STATUS and VERSION,
// with which a runtime checks whether the node works. Why an order: requests of a runtime for one container are started
// in the order of arrival. A DEL that overtakes the ADD that the runtime gave up leaves a pod attached forever.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>

#include "cni/request.h"

namespace railbed::agent {

enum class Lane : uint8_t { kPods, kAddresses, kQuestions };
Lane lane_of(const cni::Request& request);

// Requests with the same key run one after another; an empty key waits for no other. Nested requests have none: the one
// that waits for them has its container's.
std::string order_of(const cni::Request& request);

}  // namespace railbed::agent
