// SPDX-License-Identifier: Apache-2.0
// Attachments that look unfinished in a state whose last changes were lost.
//
// Why: recovery undoes an ADD that was started and not finished. If the state's log was truncated, or the file rolled
// back, the lost record may be the end of the ADD, and the pod is running. Such a pod is treated as unknown to the
// state: its interface stays, the scan of all namespaces (in_use.h) reserves its addresses, and its DEL releases what
// it can.
//
// Threading: a Turn's thread, at the agent's start before attach::recover().
// Failure: the store's; Io and Denied of a namespace that is open and whose interfaces cannot be read. One that cannot
// be opened is left to recovery.
#pragma once

#include "agent/engine.h"

namespace railbed::agent {

// Forgets them, with their leases, where the interface is in the pod's namespace. Returns how many. Nothing in a state
// that is whole.
Result<int> forget_begun(Engine::Turn& turn);

}  // namespace railbed::agent
