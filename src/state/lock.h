// SPDX-License-Identifier: Apache-2.0
// The lock that lets only one railbed process at a time change this machine.
//
// flock(2) on a file: the kernel releases it when the holder exits, in whatever way. The file's content names the
// holder for the message.
// Threading: any.
// Failure: Busy with the holder's pid and command.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "base/error.h"

namespace railbed::state {

class FileLock {
 public:
  // Commands that wait for the lock show `command` ("railbed up") as its holder.
  static Result<FileLock> take(const std::string& path, const std::string& command, std::chrono::milliseconds wait);
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace railbed::state
