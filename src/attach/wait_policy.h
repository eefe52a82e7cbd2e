// SPDX-License-Identifier: Apache-2.0
// How long attaching and detaching may wait for a device, and what can run in the meantime.
//
// Why: a driver that is re-bound, or a device that returns from a namespace which a process still holds, can take a
// minute. The agent leaves its exclusive section for that time, so that other pods do not wait for this pod's device.
// Removing interfaces takes only a few milliseconds if a thread can wait until the kernel has freed them
// (os/netlink/sender_threads.h), and otherwise tens, most of them without the kernel's lock: removals of several pods
// in parallel take hardly longer than one.
//
// After leaving the exclusive section, the state may have changed: other pods have started and ended, and another
// process may have finished or undone what is recorded. So this happens only when everything that was started is in the
// store, and the needed machine state is read again.
// Threading: of the thread that attaches; `stop` is requested by any other.
// Failure: see `without_lock`.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "base/error.h"
#include "os/ports/clock.h"

namespace railbed::attach {

enum class LongWait : uint8_t {
  kDevice,   // for a device
  kRemoval,  // of interfaces: everybody who changes an interface waits for the kernel's lock behind it
};

struct WaitPolicy {
  using Work = std::function<void()>;

  // Waits in place: for a process that no other has to wait for.
  WaitPolicy(os::Deadline until) : deadline(until) {}  // NOLINT(google-explicit-constructor): a deadline is a policy

  os::Deadline deadline;
  std::stop_token stop;  // ends every wait with Canceled
  // Calls the function where others need not wait for it. An error means that the turn could not be taken again: then
  // nothing may be read or changed any more, and the records show the next one what is left to do.
  std::function<Result<void>(LongWait, const Work&)> without_lock = [](LongWait, const Work& work) {
    work();
    return Result<void>{};
  };
};

}  // namespace railbed::attach
