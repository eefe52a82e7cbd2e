// SPDX-License-Identifier: Apache-2.0
// Notifications about names that appear and disappear in a directory (inotify).
//
// Why: a restarting kubelet removes all sockets of its plugins and re-creates its own; polling every few seconds would
// notice that late. Use: watch, look, wait, look again: no change is missed that way. A directory that was removed and
// re-created is watched once watch() is called again, which costs nothing if it is watched already.
// Threading: one thread, but wake() from any.
// Failure: NotFound if there is no such directory (yet).
// Source: inotify(7).
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "os/ports/clock.h"

namespace railbed::os {

class DirectoryWatch {
 public:
  virtual ~DirectoryWatch() = default;
  virtual Result<void> watch(const std::string& directory) = 0;
  // Returns when a name has come to a watched directory or gone from it, or after wake(); Timeout at the deadline.
  virtual Result<void> next(Deadline deadline) = 0;
  virtual void wake() = 0;
};

Result<std::unique_ptr<DirectoryWatch>> real_directory_watch();

}  // namespace railbed::os
