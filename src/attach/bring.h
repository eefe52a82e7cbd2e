// SPDX-License-Identifier: Apache-2.0
// Carries prepared interfaces out: the changes of an attachment, in their order.
//
// All interfaces come into the pod first; then they are listed there once, and each is set up. What needs no look in
// between goes to the kernel in one system call, for all interfaces (os::LinkPort::carry_out). Nothing is
// undone here: what is half-done when this fails is in the store. Threading: one thread. Failure: the first
// one, with interface and network.
#pragma once

#include "attach/prepare.h"

namespace railbed::attach {

// Fills in the results.
Result<void> bring(Host& host, state::Store& store, PodView& pod, std::vector<Prepared>& interfaces,
                   os::Deadline deadline);

}  // namespace railbed::attach
