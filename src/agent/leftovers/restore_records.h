// SPDX-License-Identifier: Apache-2.0
// Loads the records on disk (durable_records.h) into the state, if the state is new or lacks some.
//
// After a boot, the programs of earlier boots have no namespace any more; they wait for the runtime's DEL or GC, or for
// `railbed gc`. In the same boot the state was lost: the programs' namespaces may exist. Conversely, a record that only
// the state has (an older railbed wrote it) is written to disk.
//
// Threading: a Turn's thread, or the one that has the state.
// Failure: the store's and the disk's.
#pragma once

#include <string>
#include <vector>

#include "agent/durable_records.h"

namespace railbed::agent {

// Programs that are on disk and not in the store, as the store would have them.
Result<std::vector<DurableProgram>> programs_to_restore(state::Store& store, DurableRecords& records);

struct RestoredRecords {
  int of_earlier_boots = 0;
  int of_this_boot = 0;               // the state was lost
  std::vector<std::string> warnings;  // what could not be read, or put on disk
};
Result<RestoredRecords> restore_records(state::Store& store, DurableRecords& records);

}  // namespace railbed::agent
