// SPDX-License-Identifier: Apache-2.0
// Stale files of host-local: their container is no longer known.
//
// Why: such a file reserves its address forever; the original plugin has no other way to detect that it is free. A
// container is known while the state has any record of it, including a third-party plugin's request for addresses, or
// while the runtime or Multus keeps the result of its ADD. Files without a note in the state were written by the
// original, or by railbed before a reboot. They are removed, too, if they existed before this state began (in_use.h)
// and no interface of this machine has their address: a runtime that attached such a container would have it by now.
// Others are only listed.
// Threading: one thread; removing requires the state's lock.
// Failure: the store's and the disk's; unreadable directories are skipped.
#pragma once

#include <vector>

#include "agent/records/leftover.h"
#include "os/ports/disk.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::agent {

Result<std::vector<Leftover>> find_leftover_files(os::Kernel& kernel, state::Store& store, os::Disk& disk);
// Removes the file, if it is still as it was found, with its note and its lease.
Result<void> remove_leftover_file(state::Store& store, os::Disk& disk, const Leftover& leftover);

}  // namespace railbed::agent
