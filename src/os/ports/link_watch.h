// SPDX-License-Identifier: Apache-2.0
// The kernel's notifications about interfaces that change (RTNLGRP_LINK): carrier, flags, names.
//
// Why: a new carrier is announced on rtnetlink only, never as a uevent. Use: as UeventStream: open, look, wait, look
// again.
// Threading: one thread per watch.
// Failure: Timeout at the deadline.
#pragma once

#include <memory>

#include "base/error.h"
#include "os/ports/clock.h"

namespace railbed::os {

class LinkWatch {
 public:
  virtual ~LinkWatch() = default;
  // Returns when anything about any interface has changed (also when announcements were lost), or Timeout.
  virtual Result<void> next(Deadline deadline) = 0;
};

Result<std::unique_ptr<LinkWatch>> real_link_watch();

}  // namespace railbed::os
