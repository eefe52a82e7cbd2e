// SPDX-License-Identifier: Apache-2.0
// Stale objects that belong to no namespace: found by scanning, removed on request.
//
// Why in addition to recover(): the agent undoes at its start what killed processes left; `railbed gc` shows, on any
// machine and at any time, what is still there and why, and removes it without an agent. Scanning changes nothing and
// needs no lock.
// Threading: one thread; a shared store is held while railbed's own objects are removed.
// Failure: NotFound and the like per object, in its `error`; an Error if the state cannot be read.
#pragma once

#include <string>
#include <vector>

#include "agent/durable_records.h"
#include "agent/records/leftover.h"
#include "doc/value.h"
#include "os/ports/disk.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::agent {

std::string_view kind_name(LeftoverKind kind);

// `store` is null where there is no state. `pending_dir` is where the shim keeps DELs.
Result<std::vector<Leftover>> find_leftovers(os::Kernel& kernel, state::Store* store, os::Disk& disk,
                                             const std::string& pending_dir, DurableRecords& durable);
// Removes what can be removed, and records the outcome in each leftover. What is on disk must be in the store
// (restore_records.h). Not while the state is held: plugins that are executed may ask the agent, which needs it.
Result<void> remove_leftovers(os::Kernel& kernel, state::Store& store, os::Disk& disk, DurableRecords& durable,
                              std::vector<Leftover>& leftovers);

doc::Value to_value(const std::vector<Leftover>& leftovers);

}  // namespace railbed::agent
