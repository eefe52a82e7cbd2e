// SPDX-License-Identifier: Apache-2.0
#include "append_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railbed {

Result<AppendFile> AppendFile::open(const std::string& path) {
  struct stat before{};
  const bool there = ::stat(path.c_str(), &before) == 0;
  if (there && !S_ISREG(before.st_mode)) return fail(Code::kInvalid, "--save {}: not a regular file", path);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0) return AppendFile(path, fd, !there);
  Error error = system_error(errno, "open " + path);
  error.hint = "--save writes to this file; nothing was measured";
  return fail(std::move(error));
}

AppendFile::~AppendFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (made_) ::unlink(path_.c_str());
}

Result<void> AppendFile::append(std::string_view bytes) {
  if (!std::exchange(begun_, true) && ::ftruncate(fd_, 0) != 0) return fail(system_error(errno, "empty " + path_));
  made_ = false;
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error(errno, "write " + path_));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (::fdatasync(fd_) != 0) return fail(system_error(errno, "write " + path_));
  return {};
}

}  // namespace railbed
