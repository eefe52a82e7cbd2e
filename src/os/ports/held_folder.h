// SPDX-License-Identifier: Apache-2.0
// A folder of this machine that was looked up once, for several reads and writes below it.
//
// Why: on a path through /sys/bus or /sys/class the kernel follows a link each time, which takes longer than the
// attribute. While the object lives, paths below the folder start there; errors name them in full all the same. When
// the folder goes, everything below it is gone for who holds it, also if another comes in its place. Threading: it
// counts for the thread that made it, which is to end it. Failure: none; where nothing is gained (another tree than the
// machine's, no such folder), paths are looked up as always.
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
