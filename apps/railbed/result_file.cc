// SPDX-License-Identifier: Apache-2.0
#include "result_file.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/replace_file.h"

namespace railbed {

Result<ResultFile> ResultFile::open(const std::string& path) {
  ResultFile file;
  struct stat before{};
  const bool there = ::stat(path.c_str(), &before) == 0;
  file.plain_ = !there || S_ISREG(before.st_mode);
  file.path_ = path;
  if (file.plain_) {  // opening a pipe would wait for its reader
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
      Error error = system_error(errno, "open " + path);
      error.hint = "--save writes to this file; nothing was measured";
      return fail(std::move(error));
    }
    ::close(fd);
    file.made_ = !there;
    std::error_code none;
    if (const auto real = std::filesystem::canonical(path, none); !none) file.path_ = real.string();
  }
  return file;
}

ResultFile::ResultFile(ResultFile&& other) noexcept
    : path_(std::move(other.path_)), plain_(other.plain_), made_(std::exchange(other.made_, false)) {}

ResultFile::~ResultFile() {
  if (made_) ::unlink(path_.c_str());
}

Result<void> ResultFile::keep(std::string_view text) {
  if (!plain_) return {};
  return finish(text);
}

Result<void> ResultFile::finish(std::string_view text) {
  TRY(replace_file(path_, text));
  made_ = false;
  return {};
}

Result<void> end_of(std::optional<Error> ended_by, Result<void> saved) {
  if (!ended_by) return saved;
  if (!saved) ended_by->message += fmt::format("; saving the partial result also failed: {}", saved.error().story());
  return fail(std::move(*ended_by));
}

}  // namespace railbed
