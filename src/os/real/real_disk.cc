// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "os/ports/disk.h"
#include "os/real/descriptor.h"

namespace railbed::os {
namespace {

constexpr size_t kMostFileBytes = 4 << 20;
constexpr std::chrono::milliseconds kLookAgain{2};  // flock(2) has no deadline

std::string half_done(const std::string& path) {
  return path + std::string(kHalfDone);
}

class FileDiskLock : public DiskLock {
 public:
  explicit FileDiskLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    ssize_t done = ::write(fd, content.data(), content.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail(system_error(errno, "write " + path));
    content.remove_prefix(static_cast<size_t>(done));
  }
  return {};
}

class RealDisk : public Disk {
 public:
  Result<void> make_directories(const std::string& path, unsigned mode) override {
    for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      std::string part = path.substr(0, slash);
      if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST) return fail(system_error(errno, "mkdir " + part));
      if (slash == std::string::npos) return {};
    }
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return fail(system_error(errno, "list " + path));
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(directory))
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
        names.emplace_back(entry->d_name);
    int failure = errno;
    ::closedir(directory);
    if (failure != 0) return fail(system_error(failure, "list " + path));
    std::ranges::sort(names);
    return names;
  }

  Result<FileStamp> stamp(const std::string& path) override {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return fail(system_error(errno, "stat " + path));
    return FileStamp{about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ino};
  }

  Result<std::string> read(const std::string& path) override {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return fail(system_error(errno, "read " + path));
    struct stat about{};
    if (::fstat(file.get(), &about) != 0) return fail(system_error(errno, "stat " + path));
    if (!S_ISREG(about.st_mode)) return fail(Code::kInvalid, "read {}: not a plain file", path);
    std::string content;
    char part[4096];
    while (content.size() <= kMostFileBytes) {
      ssize_t got = ::read(file.get(), part, sizeof part);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(system_error(errno, "read " + path));
      if (got == 0) return content;
      content.append(part, static_cast<size_t>(got));
    }
    return fail(Code::kInvalid, "read {}: more than {} bytes", path, kMostFileBytes);
  }

  Result<void> create(const std::string& path, std::string_view content, unsigned mode) override {
    TRY(write_beside(path, content, mode));
    const std::string beside = half_done(path);
    int failure = ::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
    if (failure == EINVAL || failure == ENOSYS) {  // a file system that cannot do it (NFS): one step more
      failure = ::link(beside.c_str(), path.c_str()) == 0 ? 0 : errno;
      ::unlink(beside.c_str());
    } else if (failure != 0) {
      ::unlink(beside.c_str());
    }
    if (failure != 0) return fail(system_error(failure, "create " + path));
    return {};
  }

  Result<void> overwrite(const std::string& path, std::string_view content, unsigned mode) override {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode));
    if (!file) return fail(system_error(errno, "write " + path));
    TRY(write_all(file.get(), content, path));
    if (::ftruncate(file.get(), static_cast<off_t>(content.size())) != 0)
      return fail(system_error(errno, "truncate " + path));
    return {};
  }

  Result<void> replace(const std::string& path, std::string_view content, unsigned mode) override {
    TRY(write_beside(path, content, mode));
    if (::rename(half_done(path).c_str(), path.c_str()) != 0) return fail(system_error(errno, "rename to " + path));
    return {};
  }

  Result<void> replace_durably(const std::string& path, std::string_view content, unsigned mode) override {
    TRY(write_beside(path, content, mode, Flush::kYes));
    if (::rename(half_done(path).c_str(), path.c_str()) != 0) return fail(system_error(errno, "rename to " + path));
    return sync_directory(path.substr(0, path.rfind('/')));
  }

  Result<void> sync_directory(const std::string& path) override {
    Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return fail(system_error(errno, "open " + path));
    // File systems without a disk have nothing to sync, and say so.
    if (::fsync(directory.get()) != 0 && errno != EINVAL) return fail(system_error(errno, "fsync " + path));
    return {};
  }

  Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(system_error(errno, "unlink " + path));
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return fail(system_error(errno, fmt::format("rename {} to {}", from, to)));
    return {};
  }

  Result<std::unique_ptr<DiskLock>> lock(const std::string& path, std::chrono::milliseconds wait) override {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fail(system_error(errno, "open " + path));
    const auto deadline = std::chrono::steady_clock::now() + wait;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return fail(system_error(errno, "flock " + path));
      if (std::chrono::steady_clock::now() >= deadline)
        return fail(Error{.code = Code::kBusy,
                          .message = fmt::format("another process has held {} for {} ms", path, wait.count()),
                          .hint = fmt::format("`{}` names it", Command{"fuser", "-v"}.path(path))});
      std::this_thread::sleep_for(kLookAgain);
    }
    return std::unique_ptr<DiskLock>(new FileDiskLock(std::move(file)));
  }

 private:
  enum class Flush : bool { kNo, kYes };

  // Replaces what a killed process left behind. After a failure (a full disk) nothing is left.
  static Result<void> write_beside(const std::string& path, std::string_view content, unsigned mode,
                                   Flush flush = Flush::kNo) {
    std::string beside = half_done(path);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    Descriptor file(::open(beside.c_str(), kFlags, mode));
    if (!file && errno == EEXIST) {
      ::unlink(beside.c_str());
      file = Descriptor(::open(beside.c_str(), kFlags, mode));
    }
    if (!file) return fail(system_error(errno, "create " + beside));
    Result<void> written = write_all(file.get(), content, beside);
    if (written.has_value() && flush == Flush::kYes && ::fsync(file.get()) != 0)
      written = fail(system_error(errno, "fsync " + beside));
    if (!written.has_value()) ::unlink(beside.c_str());
    return written;
  }
};

}  // namespace

std::unique_ptr<Disk> real_disk() {
  return std::make_unique<RealDisk>();
}

}  // namespace railbed::os
