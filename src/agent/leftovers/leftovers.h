// SPDX-License-Identifier: Apache-2.0
// What no namespace owns any more: found by looking, removed on request.
//
// Why beside recover(): the agent undoes at its start what killed processes left; `railbed gc` shows, on any
// machine and at any time, what is still there and why, and takes it away without an agent. Looking changes
// nothing and needs no lock. Threading: one thread; removing wants the state's lock. Failure: NotFound and
// the like per leftover, in its `error`; an Error where the state cannot be read.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"
#include "os/ports/disk.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::agent {

enum class LeftoverKind : uint8_t {
  kInterface,  // a record of an interface: its namespace is gone, or its ADD or DEL never ended
  kProgram,    // the same for a plugin that was executed
  kAddress,    // a lease of a sandbox without that interface
  kSandbox,    // notes about a sandbox whose namespace is gone
  kLink,       // an interface that railbed made in a pod, without a record
  kFile,       // a host-local file of an unknown container: removed if railbed wrote it
  kDevice,     // a VF that is in no known namespace: only reported
  kPending,    // a DEL that waits for the agent: only reported
};
std::string_view kind_name(LeftoverKind kind);

struct Leftover {
  LeftoverKind kind = LeftoverKind::kInterface;
  std::string pod;   // state::Sandbox::key(); empty where there is none
  std::string what;  // "net1", an address, a PCI address, a file
  std::string why;
  std::string hint;   // for kinds that are only reported
  std::string netns;  // of kLink
  std::string pool;   // of kAddress
  bool removable = true;
  bool removed = false;
  std::string note;   // about the removal: what could not be restored
  std::string error;  // of the removal
};

// `store` is null where there is no state. `pending_dir` is where the shim keeps DELs.
Result<std::vector<Leftover>> find_leftovers(os::Kernel& kernel, state::Store* store, os::Disk& disk,
                                             const std::string& pending_dir);
// Removes what can be removed, and records the outcome in each leftover.
Result<void> remove_leftovers(os::Kernel& kernel, state::Store& store, os::Disk& disk,
                              std::vector<Leftover>& leftovers);

doc::Value to_value(const std::vector<Leftover>& leftovers);

}  // namespace railbed::agent
