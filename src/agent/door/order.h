// SPDX-License-Identifier: Apache-2.0
// Which requests may run beside which.
//
// Why lanes: a plugin that is executed for one request may ask for an address itself, and nobody may have to wait for
// such a nested request but the one that it is for. So addresses have threads of their own, and STATUS and VERSION,
// which a runtime asks to know whether the node works, have theirs.
// Why an order: what a runtime asks of one container is begun in the order in which it was asked. A DEL that overtakes
// the ADD that the runtime gave up leaves a pod attached for ever. Threading: pure. Failure: none.
#pragma once

#include <string>

#include "cni/request.h"

namespace railbed::agent {

enum class Lane : uint8_t { kPods, kAddresses, kQuestions };
Lane lane_of(const cni::Request& request);

// Requests with the same key run one after another; an empty key waits for nobody. Nested requests have none: the one
// that waits for them has its container's.
std::string order_of(const cni::Request& request);

}  // namespace railbed::agent
