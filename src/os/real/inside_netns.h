// SPDX-License-Identifier: Apache-2.0
// Runs a few system calls inside a network namespace.
//
// Why: setns(2) changes the calling thread permanently, and a failed return must not leave railbed in a pod.
// run_inside() has its own thread, which ends with its namespace. socket_inside() is for the one call that every pod
// needs: it enters and returns in the calling thread, which takes a tenth of the time of a new one, and ends the
// process if it cannot return (what the process started is in the state, and the next one finishes or undoes it).
// Threading: any thread; blocks until it is done.
// Failure: Denied without CAP_SYS_ADMIN. `body` reports through its captures and must not throw.
#pragma once

#include <functional>

#include "base/error.h"
#include "os/ports/netns.h"

namespace railbed::os {

Result<void> run_inside(const Netns& netns, const std::function<void()>& body);
// socket(2) there: a descriptor, or a negative errno of socket(2).
Result<int> socket_inside(const Netns& netns, int domain, int type, int protocol);

}  // namespace railbed::os
