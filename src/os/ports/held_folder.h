// SPDX-License-Identifier: Apache-2.0
// A folder of this machine that is resolved once, for several reads and writes below it.
//
// Why: on a path through /sys/bus or /sys/class the kernel follows a link each time, which takes longer than reading
// the attribute. While the object lives, paths below the folder start there; errors still contain the full path. If the
// folder is removed, everything below it no longer exists for this holder, even if another folder replaces it.
// Threading: it applies to the thread that created it, which must destroy it.
// Failure: none; if there is no benefit (another tree than the machine's, no such folder), paths are resolved as usual.
#pragma once

#include <memory>
#include <string>

#include "os/ports/file_tree.h"

namespace railbed::os {

class HeldFolder {
 public:
  HeldFolder(const FileTree& files, const std::string& folder);
  ~HeldFolder();
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;

  class Found;  // the implementation's

 private:
  std::unique_ptr<Found> found_;
};

}  // namespace railbed::os
