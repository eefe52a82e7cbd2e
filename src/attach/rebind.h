// SPDX-License-Identifier: Apache-2.0
// Waiting for a device's interface, and binding a VF's driver anew.
//
// Why: interfaces come back from a namespace that ended, and come up after a driver was bound, in the
// kernel's own time; it announces both. Threading: one thread. Failure: Timeout at the deadline.
#pragma once

#include "attach/host.h"
#include "os/ports/clock.h"

namespace railbed::attach {

// Looks until the interface of `before` is in the host's namespace. Null when there is nothing to wait for:
// the device was removed, or has a driver that makes no interface.
Result<const os::Link*> wait_for_link(Host& host, const Before& before, const std::string& interface,
                                      os::Deadline deadline);

// For settings that count only from the next start of the driver (GUIDs). The interface comes back under a
// name of the kernel's. A VF that has no driver now is only bound.
Result<void> rebind(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline);

// Binds a VF that was left between the two halves of rebind().
Result<void> ensure_bound(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline);

}  // namespace railbed::attach
