// SPDX-License-Identifier: Apache-2.0
#include "os/real/find_netns.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace railbed::os {
namespace {

constexpr int kOpen = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// A process, a thread or a mount that is there no more when it is looked at.
bool is_over(int sys_errno) {
  return sys_errno == ENOENT || sys_errno == ESRCH || sys_errno == ENOTDIR;
}

// A process with rights that this one lacks (PTRACE_MODE_READ of ptrace(2)), as the init of the machine that this one
// is confined in: no pod's process has more than the agent.
bool is_above(int sys_errno) {
  return sys_errno == EACCES || sys_errno == EPERM;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Of a folder that may end meanwhile.
Result<std::vector<std::string>> entries(const std::string& folder) {
  std::vector<std::string> names;
  DIR* opened = ::opendir(folder.c_str());
  if (opened == nullptr) {
    if (is_over(errno) || (is_above(errno) && folder.starts_with("/proc/"))) return names;
    return fail(system_error(errno, "list " + folder));
  }
  for (errno = 0; const dirent* entry = ::readdir(opened); errno = 0)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  const int failure = errno;
  ::closedir(opened);
  if (failure != 0 && !is_over(failure)) return fail(system_error(failure, "list " + folder));
  return names;
}

class Finder {
 public:
  explicit Finder(const VisitFound& visit) : visit_(visit) {}

  // False: the visitor has seen enough. Names that are no namespaces are those of a mount that is gone.
  Result<bool> in_folder(const std::string& folder) {
    for (const std::string& name : TRY(entries(folder)))
      if (!TRY(at(folder + "/" + name))) return false;
    return true;
  }

  Result<bool> of_processes() {
    processes_ = TRY(entries("/proc"));
    std::erase_if(processes_, [](const std::string& name) { return !is_number(name); });
    for (const std::string& pid : processes_)
      if (!TRY(of_process(pid))) return false;
    return true;
  }

  Result<bool> of_mounts() {
    std::set<std::string> seen;  // "mnt:[4026531841]": no more than a hint what was looked at already
    for (const std::string& pid : processes_) {
      std::error_code failure;
      const std::string view = std::filesystem::read_symlink("/proc/" + pid + "/ns/mnt", failure);
      if (failure || seen.contains(view)) continue;
      errno = 0;
      std::ifstream mounts("/proc/" + pid + "/mountinfo");
      if (!mounts && (is_over(errno) || is_above(errno))) continue;
      if (!mounts) return fail(system_error(errno, "open /proc/" + pid + "/mountinfo"));
      for (std::string line; std::getline(mounts, line);)
        if (const std::string path = nsfs_mount_in(line); !path.empty() && !TRY(mounted_for(pid, path))) return false;
      seen.insert(view);
    }
    return true;
  }

  // What a link in /proc/PID/fd reads says where it was opened, so its file system is asked for.
  Result<bool> of_descriptors() {
    struct stat nsfs{};
    if (::stat("/proc/self/ns/net", &nsfs) != 0) return fail(system_error(errno, "stat /proc/self/ns/net"));
    for (const std::string& pid : processes_) {
      const std::string folder = "/proc/" + pid + "/fd";
      for (const std::string& number : TRY(entries(folder))) {
        const std::string path = folder + "/" + number;
        struct stat file{};
        if (::stat(path.c_str(), &file) != 0 || file.st_dev != nsfs.st_dev) continue;
        if (!TRY(at(path))) return false;
      }
    }
    return true;
  }

 private:
  Result<bool> at(const std::string& path) {
    Descriptor fd(::open(path.c_str(), kOpen));
    const bool of_process = path.starts_with("/proc/") && is_above(errno);
    if (!fd && !is_over(errno) && !of_process && errno != ELOOP && errno != ENXIO)
      return fail(system_error(errno, "open network namespace " + path));
    return handed(std::move(fd), path);
  }

  Result<bool> handed(Descriptor fd, const std::string& path) {
    return fd && is_network_namespace(fd.get()) ? visit_(std::move(fd), path) : Result<bool>(true);
  }

  // The first thread of a process may have ended while others live on.
  Result<bool> of_process(const std::string& pid) {
    const std::string path = "/proc/" + pid + "/ns/net";
    Descriptor fd(::open(path.c_str(), kOpen));
    if (fd) return handed(std::move(fd), path);
    if (is_above(errno)) return true;
    if (!is_over(errno)) return fail(system_error(errno, "open network namespace " + path));
    const std::string threads = "/proc/" + pid + "/task";
    for (const std::string& thread : TRY(entries(threads)))
      if (!TRY(at(threads + "/" + thread + "/ns/net"))) return false;
    return true;
  }

  // As that process sees it. A pod owns the folders of its view, so no link is followed on the way.
  Result<bool> mounted_for(const std::string& pid, const std::string& path) {
    const std::string root = "/proc/" + pid + "/root";
    const Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder && (is_over(errno) || is_above(errno))) return true;
    if (!folder) return fail(system_error(errno, "open " + root));
    open_how how{};
    how.flags = kOpen;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
    Descriptor fd(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
    // ENOSYS: before Linux 5.6 these are not looked at.
    const bool passes = is_over(errno) || is_above(errno) || errno == ELOOP || errno == ENOSYS;
    if (!fd && !passes) return fail(system_error(errno, fmt::format("open network namespace {}{}", root, path)));
    return handed(std::move(fd), root + path);
  }

  const VisitFound& visit_;
  std::vector<std::string> processes_;
};

}  // namespace

bool is_network_namespace(int fd) {
  struct statfs status{};
  return ::fstatfs(fd, &status) == 0 && status.f_type == NSFS_MAGIC && ::ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET;
}

std::string nsfs_mount_in(std::string_view line) {
  // "36 35 0:4 net:[4026532177] /run/netns/a rw shared:9 - nsfs nsfs rw"
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr size_t kRoot = 3;
  constexpr size_t kPlace = 4;
  const auto dash = std::ranges::find(words, "-");
  if (words.size() <= kPlace || dash == words.end() || dash + 1 == words.end() || *(dash + 1) != "nsfs") return {};
  if (!words[kRoot].starts_with("net:[")) return {};
  std::string path;
  for (size_t i = 0; i < words[kPlace].size(); ++i) {
    const std::string_view rest = words[kPlace].substr(i);
    const auto is_octal = [&](size_t at) { return rest[at] >= '0' && rest[at] <= '7'; };
    if (rest[0] == '\\' && rest.size() > 3 && is_octal(1) && is_octal(2) && is_octal(3)) {
      path += static_cast<char>((rest[1] - '0') * 64 + (rest[2] - '0') * 8 + (rest[3] - '0'));
      i += 3;
    } else {
      path += rest[0];
    }
  }
  return path;
}

Result<void> find_netns(const std::vector<std::string>& folders, const VisitFound& visit) {
  Finder finder(visit);
  for (const std::string& folder : folders)
    if (!TRY(finder.in_folder(folder))) return {};
  if (!TRY(finder.of_processes())) return {};
  if (!TRY(finder.of_mounts())) return {};
  TRY(finder.of_descriptors());
  return {};
}

}  // namespace railbed::os
