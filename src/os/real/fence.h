// SPDX-License-Identifier: Apache-2.0
// Removes rights from a process, just before it executes another program (os/ports/fence.h).
//
// Threading: make() and only_root_changes() from any thread; enter() in a child of vfork(), so it makes system calls
// only.
// Failure: Unsupported if the kernel has no seccomp filters; Denied for a program that other users could change.
#pragma once

#include <string>
#include <vector>

#include <linux/filter.h>

#include "base/error.h"

namespace railbed::os {

class Fence {
 public:
  static Result<Fence> make();
  // False: errno says what failed.
  bool enter() const;

 private:
  std::vector<sock_filter> filter_;
  unsigned long kept_ = 0;  // capabilities, a bit each
};

// Root alone can change the program at `path`, or put another one in its place: the file, each folder above it
// and each link on the way is root's, and no other user or group may write them. Folders with the sticky
// bit may be written by all.
Result<void> only_root_changes(const std::string& path);

}  // namespace railbed::os
