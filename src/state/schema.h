// SPDX-License-Identifier: Apache-2.0
// The tables of a state file, and their versions.
//
// Why separate: the programs contain the tables as the file that a new state begins with (new_file.h), which
// make_empty_state.cc writes while railbed is built.
// Threading, failure: constants.
#pragma once

#include <cstdint>

namespace railbed::state {

// Which version reads which file, so that an update of railbed and its return keep what pods have (docs/state.md):
//   - meta's `schema` is the highest version that has written the file; where it is missing, `PRAGMA user_version` is;
//   - `PRAGMA user_version` is the lowest version that can read it;
//   - a version reads what it knows and leaves everything else alone.
// So a change that only adds (a table, a column with a default, a kind of note) raises kSchema. What an older version
// would read wrongly raises kMinReader, too, and not before a version that copes with both has been released. A column
// may be added to a table from 4 on: the statements of version 3 insert by position.
//   2: attachment.undo has two lines; 3: block; 4: meta's schema, what programs did is also on disk
inline constexpr int64_t kSchema = 4;
inline constexpr int64_t kMinReader = 3;

// No IN in the checks: for each row that is written, SQLite would fill a temporary table with its list.
inline constexpr const char* kTables = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE baseline (pf TEXT PRIMARY KEY, pf_name TEXT NOT NULL, num_vfs INTEGER NOT NULL,
  autoprobe INTEGER NOT NULL, mtu INTEGER NOT NULL, up INTEGER NOT NULL, eswitch_mode TEXT NOT NULL,
  vfs TEXT NOT NULL) STRICT;
CREATE TABLE step (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pf TEXT NOT NULL,
  policy TEXT NOT NULL, description TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'done' OR status = 'failed'), error TEXT NOT NULL) STRICT;
CREATE TABLE pod (pod TEXT PRIMARY KEY, netns TEXT NOT NULL, netns_name TEXT NOT NULL,
  netns_ours INTEGER NOT NULL) STRICT;
CREATE TABLE attachment (number INTEGER PRIMARY KEY, pod TEXT NOT NULL, interface TEXT NOT NULL,
  netns TEXT NOT NULL, network TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'attached' OR status = 'detaching'), device TEXT NOT NULL,
  resource TEXT NOT NULL, undo TEXT NOT NULL, result TEXT NOT NULL, UNIQUE (pod, interface)) STRICT;
CREATE TABLE lease (pool TEXT NOT NULL, address TEXT NOT NULL, pod TEXT NOT NULL, interface TEXT NOT NULL,
  PRIMARY KEY (pool, address)) STRICT;
CREATE TABLE block (number INTEGER PRIMARY KEY, pool TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL,
  UNIQUE (pool, first, last)) STRICT;
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
)";

}  // namespace railbed::state
