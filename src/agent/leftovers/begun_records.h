// SPDX-License-Identifier: Apache-2.0
// Attachments that look begun in a state that has lost its end.
//
// Why: recovery undoes an ADD that was begun and not ended. Where the state's log was cut, or the file rolled back,
// what was lost may be that the ADD ended, and the pod runs. Such a pod counts as one that the state does not know: its
// interface stays, the look at all namespaces (in_use.h) reserves its addresses, and its DEL releases what it can.
//
// Threading: a Turn's thread, at the agent's start before attach::recover(). Failure: the store's; Io and Denied of a
// namespace that is open and whose interfaces cannot be read. One that cannot be opened is left to recovery.
#pragma once

#include "agent/engine.h"

namespace railbed::agent {

// Forgets them, with their leases, where the interface is in the pod's namespace. Returns how many. Nothing in a state
// that is whole.
Result<int> forget_begun(Engine::Turn& turn);

}  // namespace railbed::agent
