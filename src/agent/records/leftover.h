// SPDX-License-Identifier: Apache-2.0
// One stale object, as `railbed gc` lists it.
//
// Why apart from leftovers.h: files of addresses are searched for on a lower floor, also by GC of a runtime.
// Threading: a value.
// Failure: none.
#pragma once

#include <string>

namespace railbed::agent {

enum class LeftoverKind : uint8_t {
  kInterface,  // a record of an interface: its namespace is gone, or its ADD or DEL never ended
  kProgram,  // the same for an executed plugin, also of an earlier boot for a container that the runtime does not know
  kAddress,  // a lease of a sandbox without that interface
  kSandbox,  // notes about a sandbox whose namespace is gone, or of which nothing else is left
  kLink,     // an interface that railbed made in a pod, without a record
  // A host-local file of an unknown container. Removed if railbed wrote it, or if it was there before the state began
  // and no interface of this machine has its address.
  kFile,
  kDevice,   // a VF that is in no known namespace: only reported
  kPending,  // a DEL that waits for the agent: only reported
};

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

}  // namespace railbed::agent
