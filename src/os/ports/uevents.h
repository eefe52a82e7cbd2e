// SPDX-License-Identifier: Apache-2.0
// The kernel's notifications about devices that appear, disappear or change (NETLINK_KOBJECT_UEVENT).
//
// Why: VFs appear and drivers bind asynchronously; waiting for the notification is faster and cheaper than polling
// sysfs. Use: open the stream first, then act, then look at sysfs, then wait and look again, until the desired state is
// reached or the deadline has passed: no notification can be missed that way.
// Threading: one thread per stream.
// Failure: Timeout at the deadline.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "os/ports/clock.h"

namespace railbed::os {

struct Uevent {
  std::string action;     // "add", "remove", "bind", "unbind", "change", "move"
  std::string subsystem;  // "pci", "net", "infiniband"
  std::string devpath;    // below /sys
  std::map<std::string, std::string> properties;
};

class UeventStream {
 public:
  virtual ~UeventStream() = default;
  // The next event, or Timeout at `deadline`. Lost events (overrun) are reported as an event with action
  // "overrun".
  virtual Result<Uevent> next(Deadline deadline) = 0;
};

class UeventPort {
 public:
  virtual ~UeventPort() = default;
  virtual Result<std::unique_ptr<UeventStream>> open() = 0;
};

std::unique_ptr<UeventPort> real_uevents();

}  // namespace railbed::os
