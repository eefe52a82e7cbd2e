// SPDX-License-Identifier: Apache-2.0
#include "command/replace_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "os/ports/disk.h"

namespace railbed {

Result<void> replace_file(const std::string& path, std::string_view text) {
  struct stat now{};
  const bool there = ::stat(path.c_str(), &now) == 0;
  if (!there || S_ISREG(now.st_mode)) {
    std::error_code none;
    const auto real = std::filesystem::canonical(path, none);
    const std::string& place = none ? path : real.native();
    const auto replaced = os::real_disk()->replace(place, text, there ? now.st_mode & 0777u : 0644u);
    if (replaced) return {};
    const int reason = replaced.error().sys_errno;
    if (reason != EACCES && reason != EPERM) return fail(system_error(reason != 0 ? reason : EIO, "write " + path));
  }
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) return fail(system_error(errno != 0 ? errno : EIO, "write " + path));
  return {};
}

}  // namespace railbed
