// SPDX-License-Identifier: Apache-2.0
// How long attaching and detaching may wait for a device, and what others can do meanwhile.
//
// Why: a driver that is bound anew, or a device that comes home from a namespace which somebody holds, can take a
// minute. The agent lets its turn at the machine go for that time, so that other pods do not wait for this one's
// device. Removing interfaces takes only a few milliseconds where the kernel's freeing of them can be left to a thread
// (os/netlink/sender_threads.h), and tens where not, most of them without the kernel's lock: removals of several pods
// beside each other take hardly longer than one.
//
// Whoever stands aside finds another world afterwards: other pods have come and gone, and another process may have
// finished or undone what is recorded. So this happens only where everything that was begun is in the store, and what
// is needed of the machine is read again. Threading: of the thread that attaches; `stop` is asked for by any other.
// Failure: see `aside`.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "base/error.h"
#include "os/ports/clock.h"

namespace railbed::attach {

enum class Aside : uint8_t {
  kWait,     // for a device
  kRemoval,  // of interfaces: everybody who changes an interface waits for the kernel's lock behind it
};

struct WaitPolicy {
  using Work = std::function<void()>;

  // Waits in place: for a process that nobody else has to wait for.
  WaitPolicy(os::Deadline until) : deadline(until) {}  // NOLINT(google-explicit-constructor): a deadline is a policy

  os::Deadline deadline;
  std::stop_token stop;  // ends every wait with Canceled
  // Calls the function where others need not wait for it. An error means that the turn could not be taken again: then
  // nothing may be read or changed any more, and the records tell the next one what is left to do.
  std::function<Result<void>(Aside, const Work&)> aside = [](Aside, const Work& work) {
    work();
    return Result<void>{};
  };
};

}  // namespace railbed::attach
