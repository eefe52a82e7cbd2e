// SPDX-License-Identifier: Apache-2.0
#include "journal.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

namespace railbed::shim {

namespace {
bool wrong(const char* call, const std::string& path, std::string& problem) {
  problem = std::string(call) + " " + path + ": " + error_text(errno);
  return false;
}

bool sync_folder(const std::string& path, std::string& problem) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return wrong("open", path, problem);
  const bool done = fsync(fd) == 0 || wrong("fsync", path, problem);
  close(fd);
  return done;
}

// A folder that is made is an entry of the one above, which is to survive a power failure as the file in it does.
bool make_folders(const std::string& path, std::string& problem) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) == 0) {
      if (!sync_folder(part + "/..", problem)) {
        rmdir(part.c_str());  // or the next DEL would take it for one that is on the disk
        return false;
      }
    } else if (errno != EEXIST) {
      return wrong("mkdir", part, problem);
    }
    if (end == std::string::npos) return true;
  }
}

bool write_whole(int fd, std::string_view bytes, const std::string& path, std::string& problem) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return wrong("write", path, problem);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return fsync(fd) == 0 || wrong("fsync", path, problem);
}

// The decimal number with leading zeros, so that the order of names is the order of times.
std::string padded(unsigned long long value) {
  std::string digits = number(value);
  return std::string(digits.size() < 20 ? 20 - digits.size() : 0, '0') + digits;
}
}  // namespace

bool keep(const char* folder, std::string_view frame, std::string& problem) {
  std::string path(folder);
  if (!make_folders(path, problem)) return false;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const unsigned long long nanoseconds =
      static_cast<unsigned long long>(now.tv_sec) * 1'000'000'000 + static_cast<unsigned long long>(now.tv_nsec);
  const std::string name = path + "/" + padded(nanoseconds) + "-" + number(static_cast<unsigned>(getpid())) + ".del";
  const std::string fresh = name + ".new";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return wrong("open", fresh, problem);
  bool done = write_whole(fd, frame, fresh, problem);
  if (close(fd) != 0 && done) done = wrong("close", fresh, problem);
  if (done && rename(fresh.c_str(), name.c_str()) != 0) done = wrong("rename", name, problem);
  if (!done) {
    unlink(fresh.c_str());
    return false;
  }
  return sync_folder(path, problem);
}

}  // namespace railbed::shim
