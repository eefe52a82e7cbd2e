// SPDX-License-Identifier: Apache-2.0
// What still exists on the machine of the attachments that the state records.
//
// Why: decisions about pods are made over values; this reads them, and changes nothing.
// Threading: as os::Kernel.
// Failure: of a namespace that exists and cannot be examined.
#pragma once

#include <vector>

#include "attach/pod_view.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::attach {

enum class Presence : uint8_t {
  kThere,
  kMissing,      // the pod's namespace is there without it
  kLeft,         // of a process that ended in the middle, or of a namespace that has ended: recover() gives it back
  kUnreachable,  // the pod's namespace is not at its path, was found nowhere, and has not ended
};

// For each of the records. Those of executed programs are kThere: only their program knows.
Result<std::vector<Presence>> presence_of(os::Kernel& kernel, const std::vector<state::Attachment>& records);

// Whether the recorded interface is in the pod's namespace.
Result<bool> is_in_pod(const os::FileTree& files, PodView& pod, const state::Attachment& record);

}  // namespace railbed::attach
