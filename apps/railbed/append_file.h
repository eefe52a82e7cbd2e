// SPDX-License-Identifier: Apache-2.0
// A file that grows during a long run.
//
// Why: a mesh may run for hours, so results must be on disk when the machine fails, and a wrong path or a full disk
// must be reported before the run and not after it. An existing file stays until there is something to write.
// Threading: one thread. Failure: of opening and of writing, with the path.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace railbed {

class AppendFile {
 public:
  static Result<AppendFile> open(const std::string& path);
  AppendFile(AppendFile&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), made_(std::exchange(other.made_, false)) {}
  AppendFile& operator=(AppendFile&&) = delete;
  ~AppendFile();  // takes away an empty file that open() made

  // The first one takes the place of what was there.
  Result<void> append(std::string_view bytes);

 private:
  AppendFile(std::string path, int fd, bool made) : path_(std::move(path)), fd_(fd), made_(made) {}

  std::string path_;
  int fd_;
  bool made_;  // by open(), and nothing is in it yet
  bool begun_ = false;
};

}  // namespace railbed
