// SPDX-License-Identifier: Apache-2.0
#include "state/new_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railbed::state {
namespace {

// 0, or the errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

Error cannot_make(int error, const std::string& path) {
  Error out = system_error(error, "write " + path);
  if (error == ENOSPC || error == EDQUOT) out.hint = "the file system is full: free some space there";
  return out;
}

}  // namespace

Result<Origin> make_file(const std::string& path, bool in_memory) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0) return Origin::kFound;
  if (errno != ENOENT) return fail(system_error(errno, "look at " + path));
  const std::string unnamed = path + ".new";
  ::unlink(unnamed.c_str());  // of a process that was killed here
  const int fd = ::open(unnamed.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail(cannot_make(errno, unnamed));
  int error = write_all(fd, empty_state());
  if (error == 0 && !in_memory && ::fdatasync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(unnamed.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Origin::kMade;
  ::unlink(unnamed.c_str());
  return fail(cannot_make(error, unnamed));
}

}  // namespace railbed::state
