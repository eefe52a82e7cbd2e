// SPDX-License-Identifier: Apache-2.0
// Applies prepared interfaces: the changes of an attachment, in their order.
//
// All interfaces are moved into the pod first; then they are listed there once, and each is configured. Changes that
// need no read in between are sent to the kernel in one system call, for all interfaces (os::LinkPort::carry_out).
// Nothing is undone here: what is partially applied when this fails is in the store.
// Threading: one thread.
// Failure: the first one, with interface and network.
#pragma once

#include "attach/prepare.h"

namespace railbed::attach {

// Fills in the results.
Result<void> configure_links(Host& host, state::Store& store, PodView& pod, std::vector<Prepared>& interfaces,
                             os::Deadline deadline);

}  // namespace railbed::attach
