// SPDX-License-Identifier: Apache-2.0
// Programs in a folder from which other processes execute them: installed, saved, restored, each in one step.
//
// Why in addition to Disk: programs are large, are linked and renamed instead of copied, and must never be open for
// writing under a name that a process executes ("text file busy"). Every step is on the disk when it returns.
// Threading: one thread.
// Failure: NotFound, Conflict (link() finds the name in use), else the errno's code.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::os {

class ProgramFiles {
 public:
  virtual ~ProgramFiles() = default;

  virtual bool exists(const std::string& path) const = 0;                   // a link with a missing target exists, too
  virtual bool same(const std::string& a, const std::string& b) const = 0;  // two names of one file
  // The whole content; empty for a file larger than `most` and for anything but a plain file.
  virtual Result<std::string> read(const std::string& path, size_t most) const = 0;
  virtual Result<void> make_folder(const std::string& path) = 0;  // an existing one is fine
  // Replaces an existing file; mode 0755.
  virtual Result<void> write(const std::string& path, std::string_view content) = 0;
  // Adds a second name.
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;
  // Replaces an existing file.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;         // a missing one is fine
  virtual Result<void> remove_folder(const std::string& path) = 0;  // one that is missing or not empty is fine
};

std::unique_ptr<ProgramFiles> real_program_files();

}  // namespace railbed::os
