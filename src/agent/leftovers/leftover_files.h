// SPDX-License-Identifier: Apache-2.0
// Files of host-local whose container nobody knows any more.
//
// Why: such a file keeps its address for ever; the original plugin has no other way to see that it is free. A
// container is known while the state has anything of it, a foreign plugin's request for addresses among it,
// or while the runtime or Multus keeps the result of its ADD. Files that the state has no note of were written by the
// original, or by railbed before a reboot. They are removed, too, where they were there before this state began
// (in_use.h) and no interface of this machine has their address: a runtime that attached such a container would have it
// by now. Others are shown only. Threading: one thread; removing wants the state's lock.
// Failure: the store's and the disk's; directories that may not be read are passed over.
#pragma once

#include "agent/leftovers/leftovers.h"

namespace railbed::agent {

Result<std::vector<Leftover>> find_leftover_files(os::Kernel& kernel, state::Store& store, os::Disk& disk);
// Removes the file, if it is still as it was found, with its note and its lease.
Result<void> remove_leftover_file(state::Store& store, os::Disk& disk, const Leftover& leftover);

}  // namespace railbed::agent
