// SPDX-License-Identifier: Apache-2.0
// What a pod may still have although it is neither in the pod's namespace nor on the host.
//
// Why: a pod with its own user namespace has all rights over its network. It can create more network namespaces and
// move an interface there, which is then in use without being in the pod's namespace. And a virtual machine gets a VF
// as a device: its runtime (Kata) binds the VF to vfio-pci, and no namespace has an interface of it. In neither case
// does the absence prove that the device and the addresses are free (give_back.h).
// Threading: one thread; find_elsewhere() searches the machine, which may take a second.
// Failure: of what exists and cannot be examined; it is then uncertain whether a VF is in use, and it counts as used.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "attach/namespaces.h"

namespace railbed::attach {

// The namespace, of all that can be found but the host's and `pod`, in which the recorded interface is under whatever
// name. `pod` may be null; other interfaces of the pod that are there look much the same.
Result<std::optional<NetnsRef>> find_elsewhere(os::Kernel& kernel, const Before& before, const os::Netns* pod);

enum class BoundTo : uint8_t {
  kItsDriver,   // or another one that may have an interface
  kMachine,     // to vfio, and a process has its group open, or may have
  kLeftBehind,  // to vfio that no process uses, or to nothing
};
struct VfBinding {
  BoundTo to = BoundTo::kItsDriver;
  std::string group;  // of kMachine: "/dev/vfio/12", which is open; empty where that could not be found out
};
// Of a device whose driver is recorded.
VfBinding binding_of(const os::FileTree& files, const Before& before);

// Whether what an attachment has can no longer be in use: its namespace has ended, or no virtual machine has its VF.
// `given` are the numbers of living namespaces (os::NetnsPort::numbers()).
bool has_ended(const os::FileTree& files, const state::Attachment& record, const std::set<os::Nsid>& given);

// Whether it is an orphan because of a virtual machine, which still may have its VF.
bool is_with_a_machine(const os::FileTree& files, const state::Attachment& record);

}  // namespace railbed::attach
