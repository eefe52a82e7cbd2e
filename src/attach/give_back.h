// SPDX-License-Identifier: Apache-2.0
// Undoes attachments of one pod, wherever their devices are now.
//
// A device may be in the pod, on the host (the pod's namespace ended, or it never left), on its way back to the host,
// or removed; only what differs from its original state is changed. Released devices are removed from the state, with
// their addresses; what could not be released stays in the store and is reported. If the pod's namespace can neither be
// reached nor has ended (namespaces.h), the device and the addresses stay with it: the pod may be running and using
// them. They are orphans, and are released once the namespace has ended. The same applies to those that the pod has
// moved to another namespace, and to a VF that a virtual machine may use (held.h). Waiting for a device happens outside
// of the exclusive section (host.h).
// Threading: one thread.
// Failure: per interface, in the result.
#pragma once

#include "attach/host.h"
#include "attach/namespaces.h"

namespace railbed::attach {

struct GivenBack {
  std::vector<state::Attachment> done;
  std::vector<state::Attachment> orphans;  // that became ones by this
  std::vector<RecoveryReport::Failure> failures;
  std::vector<std::string> notes;
};

// `records` must be those in the store, all of one pod and of the namespace that is at `place`. Fails only when the
// store does, or when the turn is lost: what was given back until then stays recorded, and giving it back once more
// finds it done.
Result<GivenBack> give_back(Host& host, state::Store& store, const std::vector<state::Attachment>& records,
                            const NetnsPlace& place, os::Deadline deadline);

// The same for records of any namespaces, which are looked for.
Result<GivenBack> give_back_anywhere(Host& host, state::Store& store, std::vector<state::Attachment> records,
                                     os::Deadline deadline);

}  // namespace railbed::attach
