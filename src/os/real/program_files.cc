// SPDX-License-Identifier: Apache-2.0
#include "os/real/program_files.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/real/descriptor.h"

namespace railbed::os {

namespace {
class RealProgramFiles : public ProgramFiles {
 public:
  bool exists(const std::string& path) const override {
    struct stat there{};
    return ::lstat(path.c_str(), &there) == 0;
  }

  bool same(const std::string& a, const std::string& b) const override {
    struct stat one{};
    struct stat other{};
    return ::lstat(a.c_str(), &one) == 0 && ::lstat(b.c_str(), &other) == 0 && one.st_ino == other.st_ino &&
           one.st_dev == other.st_dev;
  }

  Result<std::string> read(const std::string& path, size_t most) const override {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat there{};
    if (!file || ::fstat(file.get(), &there) != 0) return fail(system_error(errno, "open " + path));
    std::string out;
    if (!S_ISREG(there.st_mode) || static_cast<size_t>(there.st_size) > most) return out;
    out.resize(static_cast<size_t>(there.st_size));
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::read(file.get(), out.data() + done, out.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(system_error(errno, "read " + path));
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    out.resize(done);
    return out;
  }

  Result<void> make_folder(const std::string& path) override {
    std::error_code problem;
    std::filesystem::create_directories(path, problem);
    if (problem) return fail(system_error(problem.value(), "mkdir " + path));
    return sync_folder_of(path);
  }

  Result<void> write(const std::string& path, std::string_view content) override {
    // Always a new file: a process may be executing the one that has the name.
    TRY(remove(path));
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755));
    if (!file) return fail(system_error(errno, "create " + path));
    while (!content.empty()) {
      const ssize_t put = ::write(file.get(), content.data(), content.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return fail(system_error(errno, "write " + path));
      content.remove_prefix(static_cast<size_t>(put));
    }
    if (::fchmod(file.get(), 0755) != 0) return fail(system_error(errno, "chmod " + path));
    if (::fsync(file.get()) != 0) return fail(system_error(errno, "fsync " + path));
    return sync_folder_of(path);
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) != 0) return fail(system_error(errno, fmt::format("link {} {}", from, to)));
    return sync_folder_of(to);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return fail(system_error(errno, fmt::format("rename {} {}", from, to)));
    TRY(sync_folder_of(to));
    return sync_folder_of(from);
  }

  Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(system_error(errno, "unlink " + path));
    return {};
  }

  Result<void> remove_folder(const std::string& path) override {
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
      return fail(system_error(errno, "rmdir " + path));
    return {};
  }

 private:
  static Result<void> sync_folder_of(const std::string& path) {
    const auto parent = std::filesystem::path(path).parent_path();
    const std::string folder(parent.empty() ? "." : parent.c_str());
    Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file || ::fsync(file.get()) != 0) return fail(system_error(errno, "fsync " + folder));
    return {};
  }
};
}  // namespace

std::unique_ptr<ProgramFiles> real_program_files() {
  return std::make_unique<RealProgramFiles>();
}

}  // namespace railbed::os
