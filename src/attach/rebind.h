// SPDX-License-Identifier: Apache-2.0
// Waits for a device's interface, and re-binds a VF's driver.
//
// Why: interfaces return from a namespace that ended, and appear after a driver was bound, asynchronously; the kernel
// announces both. All of it happens outside of the exclusive section (Host::aside): callers re-check everything they
// knew.
// Threading: one thread.
// Failure: Timeout at the deadline, Canceled when the agent stops.
#pragma once

#include "attach/host.h"
#include "os/ports/clock.h"

namespace railbed::attach {

// Waits until the interface of `before` is in the host's namespace. Null when it cannot appear: the device was removed,
// or its driver makes no interface.
Result<const os::Link*> wait_for_link(Host& host, const Before& before, const std::string& interface,
                                      os::Deadline deadline);

// For settings that take effect only when the driver starts again (GUIDs). The interface returns under a name chosen by
// the kernel. A VF without a driver is only bound.
Result<void> rebind(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline);

// Binds the driver that a device had, in place of one that serves programs or of none, as a virtual machine leaves it.
Result<void> bring_driver_back(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline);

// Binds a VF if rebind() was interrupted between its two halves.
Result<void> ensure_bound(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline);

}  // namespace railbed::attach
