// SPDX-License-Identifier: Apache-2.0
// Running a few system calls inside a network namespace.
//
// Why: setns(2) changes the calling thread for good; a thread of its own ends with its namespace, so that no
// failed way back can leave railbed in a pod. Threading: any thread; blocks until `body` has run. Failure:
// Denied without CAP_SYS_ADMIN. `body` reports through its captures and must not throw.
#pragma once

#include <functional>

#include "base/error.h"
#include "os/ports/netns.h"

namespace railbed::os {

Result<void> run_inside(const Netns& netns, const std::function<void()>& body);

}  // namespace railbed::os
