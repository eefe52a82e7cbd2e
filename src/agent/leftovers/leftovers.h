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
#include "doc/value.h"
#include "os/ports/disk.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::agent {

enum class LeftoverKind : uint8_t {
  kInterface,  // a record of an interface: its namespace is gone, or its ADD or DEL never ended
  kProgram,    // the same for a plugin that was executed, also in an earlier boot for a container that nobody knows
  kAddress,    // a lease of a sandbox without that interface
  kSandbox,    // notes about a sandbox whose namespace is gone, or of which nothing else is left
  kLink,       // an interface that railbed made in a pod, without a record
  // A host-local file of an unknown container. Removed if railbed wrote it, or if it was there before the state began
  // and no interface of this machine has its address.
  kFile,
  kDevice,   // a VF that is in no known namespace: only reported
  kPending,  // a DEL that waits for the agent: only reported
};
std::string_view kind_name(LeftoverKind kind);

struct Leftover {
  LeftoverKind kind = LeftoverKind::kInterface;
  std::string pod;   // state::Sandbox::key(); empty where there is none
  std::string what;  // "net1", an address, a PCI address, a file
  std::string why;
  std::string hint;       // for kinds that are only reported
  std::string netns;      // of kLink
  std::string pool;       // of kAddress
  std::string container;  // of kFile, where railbed did not write it
  bool removable = true;
  bool removed = false;
  std::string note;   // about the removal: what could not be restored
  std::string error;  // of the removal
};

// `store` is null where there is no state. `pending_dir` is where the shim keeps DELs.
Result<std::vector<Leftover>> find_leftovers(os::Kernel& kernel, state::Store* store, os::Disk& disk,
                                             const std::string& pending_dir, DurableRecords& durable);
// Removes what can be removed, and records the outcome in each leftover. What is on disk must be in the store
// (restore_records.h). Not while the state is held: plugins that are executed may ask the agent, which needs it.
Result<void> remove_leftovers(os::Kernel& kernel, state::Store& store, os::Disk& disk, DurableRecords& durable,
                              std::vector<Leftover>& leftovers);

doc::Value to_value(const std::vector<Leftover>& leftovers);

}  // namespace railbed::agent
