// SPDX-License-Identifier: Apache-2.0
// Undoes attachments of one pod, wherever their devices are now.
//
// A device may be in the pod, at home (the pod's namespace ended, or it never left), on its way home, or
// gone; only what is not as it was is changed. What was given back is forgotten, with its addresses; what
// could not be stays in the store and is told. Waiting for a device is done outside of the turn (host.h). Threading:
// one thread. Failure: per interface, in the answer.
#pragma once

#include "attach/host.h"

namespace railbed::attach {

struct GivenBack {
  std::vector<state::Attachment> done;
  std::vector<RecoveryReport::Failure> failures;
  std::vector<std::string> notes;
};

// `records` must be those in the store, all of one pod. `held` is the pod's namespace if the caller has it open;
// otherwise its path is opened. Fails only when the store does, or when the turn
// is lost: what was given back until then stays recorded, and giving it back once more finds it done.
Result<GivenBack> give_back(Host& host, state::Store& store, const std::vector<state::Attachment>& records,
                            const os::Netns* held, os::Deadline deadline);

}  // namespace railbed::attach
