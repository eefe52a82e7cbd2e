// SPDX-License-Identifier: Apache-2.0
// Files on a disk that other programs also read: created atomically, found by directory, locked.
//
// Why in addition to FileTree: sysfs and procfs need one write to an existing file; here files are created and removed,
// and readers must never see a partial one. Paths are absolute; the last component of a path is never followed if it is
// a symbolic link.
// Threading: any thread.
// Failure: Conflict if create() finds the file; NotFound; Denied; Busy if the lock is not free in time; Io.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::os {

// Of a directory: changes whenever a name is added to it or removed from it (within the resolution of the file system's
// clock). Of a file: when its content was written.
struct FileStamp {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// The destructor releases the lock.
class DiskLock {
 public:
  virtual ~DiskLock() = default;
};

// What the name of a file that is being written ends with, until it is whole. A killed process leaves such files
// behind.
inline constexpr std::string_view kHalfDone = ".railbed-new";

class Disk {
 public:
  virtual ~Disk() = default;

  virtual Result<void> make_directories(const std::string& path, unsigned mode) = 0;  // existing ones are fine
  // Names, including those of directories, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  virtual Result<FileStamp> stamp(const std::string& path) = 0;
  virtual Result<std::string> read(const std::string& path) = 0;  // at most 4 MiB, of a plain file

  // The file appears with its whole content or not at all; Conflict when the name is taken.
  virtual Result<void> create(const std::string& path, std::string_view content, unsigned mode) = 0;
  // The same, but replaces an existing file.
  virtual Result<void> replace(const std::string& path, std::string_view content, unsigned mode) = 0;
  // The same, but inside of the file that is there, which costs a third: a process that reads it without a lock, or
  // after this process was killed, may see a part. For hints that nothing depends on.
  virtual Result<void> overwrite(const std::string& path, std::string_view content, unsigned mode) {
    return replace(path, content, mode);
  }
  virtual Result<void> remove(const std::string& path) = 0;  // a missing file is fine
  // Whatever it is, a directory, a link or a file; replaces what is at `to`.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;

  // For what must outlive a power failure; each waits for the disk. replace_durably(): after a power failure at any
  // moment there is the old file or the new one, and the new one once this has returned. sync_directory(): names that
  // were added to the directory or removed from it before are so after a power failure, too.
  virtual Result<void> replace_durably(const std::string& path, std::string_view content, unsigned mode) = 0;
  virtual Result<void> sync_directory(const std::string& path) = 0;

  // flock(2), exclusive, on a file that is created if it is missing.
  virtual Result<std::unique_ptr<DiskLock>> lock(const std::string& path, std::chrono::milliseconds wait) = 0;
};

std::unique_ptr<Disk> real_disk();

}  // namespace railbed::os
