// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ranges>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/ports/file_tree.h"
#include "os/ports/held_folder.h"
#include "os/real/descriptor.h"
#include "os/real/path_walk.h"

namespace railbed::os {

// They are on the thread and not in the tree, so that no caller uses one that another thread is about to close.
class HeldFolder::Found {
 public:
  Found(const FileTree& tree, const std::string& folder, Descriptor fd)
      : tree_(&tree), prefix_(folder + "/"), fd_(std::move(fd)) {
    held().push_back(this);
  }
  ~Found() { std::erase(held(), this); }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;

  // The folder that `path` is below, the one taken last; null for none.
  static const Found* above(const FileTree& tree, const std::string& path) {
    for (const Found* one : held() | std::views::reverse)
      if (one->tree_ == &tree && path.size() > one->prefix_.size() && path.starts_with(one->prefix_)) return one;
    return nullptr;
  }
  int fd() const { return fd_.get(); }
  const char* below(const std::string& path) const { return path.c_str() + prefix_.size(); }

 private:
  static std::vector<const Found*>& held() {
    thread_local std::vector<const Found*> folders;
    return folders;
  }

  const FileTree* tree_;
  std::string prefix_;
  Descriptor fd_;
};

namespace {

constexpr int kRacesTolerated = 16;  // RESOLVE_IN_ROOT gives EAGAIN when something was renamed meanwhile

// "a/b" for "/a/b", "." for "/": openat(2) needs a path relative to the root's descriptor.
const char* below_root(const std::string& path) {
  size_t start = path.find_first_not_of('/');
  return start == std::string::npos ? "." : path.c_str() + start;
}

std::string fd_path(int fd) {
  char link[PATH_MAX];
  std::string proc = fmt::format("/proc/self/fd/{}", fd);
  ssize_t length = ::readlink(proc.c_str(), link, sizeof link);
  return length > 0 ? std::string(link, static_cast<size_t>(length)) : std::string();
}

class RealFiles : public FileTree {
 public:
  explicit RealFiles(const std::string& root)
      : whole_machine_(root.empty() || root == "/"),
        root_name_(whole_machine_ ? "/" : root),
        root_(::open(root_name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        root_errno_(root_ ? 0 : errno) {
    if (root_ && !whole_machine_) root_path_ = fd_path(root_.get());
  }

  Result<std::string> read(const std::string& path) const override {
    Descriptor fd = TRY(open_inside("read", path, O_RDONLY | O_NONBLOCK));
    std::string content;
    char start[4096];  // a sysfs attribute is never longer, and a short read there means the end
    ssize_t begun = -1;
    do begun = ::read(fd.get(), start, sizeof start);
    while (begun < 0 && errno == EINTR);
    if (begun < 0) return fail(system_error(errno, "read " + path));
    content.assign(start, static_cast<size_t>(begun));
    size_t used = content.size();
    if (used == 0 || (used < sizeof start && path.starts_with("/sys/"))) return content;
    while (true) {
      if (content.size() - used < 4096) content.resize(std::max<size_t>(8192, content.size() * 2));
      ssize_t count = ::read(fd.get(), content.data() + used, content.size() - used);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail(system_error(errno, "read " + path));
      if (count == 0) break;
      used += static_cast<size_t>(count);
      if (used > kMaxFileBytes) return fail(Code::kExhausted, "read {}: larger than {} bytes", path, kMaxFileBytes);
    }
    content.resize(used);
    return content;
  }

  Result<void> write(const std::string& path, std::string_view content) override {
    Descriptor fd = TRY(open_inside("write", path, O_WRONLY | O_TRUNC | O_NONBLOCK));
    ssize_t count = -1;
    do count = ::write(fd.get(), content.data(), content.size());
    while (count < 0 && errno == EINTR);
    if (count < 0) return fail(system_error(errno, "write " + path));
    if (static_cast<size_t>(count) != content.size())
      return fail(Code::kIo, "write {}: only {} of {} bytes were taken", path, count, content.size());
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& path) const override {
    Descriptor fd = TRY(open_inside("list", path, O_RDONLY | O_DIRECTORY));
    // Without opendir(3), which looks at the file again and allocates for each folder eight times what most of sysfs
    // need.
    alignas(dirent64) std::array<char, 4096> entries;
    std::vector<std::string> names;
    while (true) {
      const ssize_t count = ::getdents64(fd.get(), entries.data(), entries.size());
      if (count < 0) return fail(system_error(errno, "list " + path));
      if (count == 0) break;
      for (ssize_t at = 0; at < count;) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        at += entry->d_reclen;
      }
    }
    std::ranges::sort(names);
    return names;
  }

  Result<std::string> read_link(const std::string& path) const override {
    char target[PATH_MAX];
    if (whole_machine_ && root_ && path.find('\0') == std::string::npos) {
      const auto [from, name] = start_of(path);
      ssize_t direct = ::readlinkat(from, name, target, sizeof target);
      if (direct < 0) return fail(system_error(errno, "readlink " + path));
      return std::string(target, static_cast<size_t>(direct));
    }
    Descriptor fd = TRY(open_inside("readlink", path, O_PATH | O_NOFOLLOW));
    ssize_t length = ::readlinkat(fd.get(), "", target, sizeof target);
    // For an O_PATH descriptor of anything but a link, readlinkat gives ENOENT; readlink(2) documents EINVAL.
    if (length < 0) return fail(system_error(errno == ENOENT ? EINVAL : errno, "readlink " + path));
    return std::string(target, static_cast<size_t>(length));
  }

  Result<std::string> real_path(const std::string& path) const override {
    Descriptor fd = TRY(open_inside("resolve", path, O_PATH));
    std::string full = fd_path(fd.get());
    if (!full.starts_with('/')) return fail(Code::kIo, "resolve {}: /proc/self/fd is not readable", path);
    if (whole_machine_ || root_path_ == "/") return full;
    if (!full.starts_with(root_path_))
      return fail(Code::kConflict, "resolve {}: it was moved out of {}", path, root_path_);
    std::string inside = full.substr(root_path_.size());
    return inside.empty() ? "/" : inside;
  }

  bool exists(const std::string& path) const override {
    if (whole_machine_ && root_ && path.find('\0') == std::string::npos)
      return !path.empty() && exists_at(start_of(path));
    return open_inside("find", path, O_PATH).has_value();
  }

  Result<bool> is_in_use(const std::string& path) const override {
    const auto opened = open_inside("open", path, O_RDWR | O_NONBLOCK);
    if (opened.has_value()) return false;
    if (opened.error().sys_errno == EBUSY) return true;
    return fail(Error(opened.error()));
  }

  // Null where paths are not looked up from it, or there is no such folder.
  std::unique_ptr<HeldFolder::Found> hold(const std::string& folder) const {
    if (!whole_machine_ || folder.empty() || folder.ends_with('/')) return nullptr;
    auto fd = open_inside("hold", folder, O_PATH | O_DIRECTORY);
    return fd ? std::make_unique<HeldFolder::Found>(*this, folder, std::move(*fd)) : nullptr;
  }

 private:
  // Where a path of the whole machine is looked up from, and what is looked up there.
  struct Start {
    int from;
    const char* name;
  };
  Start start_of(const std::string& path) const {
    if (const HeldFolder::Found* held = HeldFolder::Found::above(*this, path)) return {held->fd(), held->below(path)};
    return {root_.get(), below_root(path)};
  }
  static int open_at(Start start, int flags) { return ::openat(start.from, start.name, flags); }
  static bool exists_at(Start start) { return ::faccessat(start.from, start.name, F_OK, 0) == 0; }

  Result<Descriptor> open_inside(const char* verb, const std::string& path, int flags) const {
    if (!root_) return fail(system_error(root_errno_, "open " + root_name_));
    if (path.empty() || path.find('\0') != std::string::npos)
      return fail(Code::kInvalid, "{} \"{}\": not a path", verb, path.c_str());
    int fd = whole_machine_ ? open_at(start_of(path), flags | O_CLOEXEC) : open_resolved(path, flags | O_CLOEXEC);
    if (fd < 0) return fail(system_error(errno, fmt::format("{} {}", verb, path)));
    return Descriptor(fd);
  }

  int open_resolved(const std::string& path, int flags) const {
    open_how how{};
    how.flags = static_cast<uint64_t>(flags);
    how.resolve = RESOLVE_IN_ROOT;
    for (int attempt = 0; attempt < kRacesTolerated; ++attempt) {
      long fd = ::syscall(SYS_openat2, root_.get(), below_root(path), &how, sizeof how);
      if (fd >= 0) return static_cast<int>(fd);
      if (errno == ENOSYS || errno == EPERM) return open_walked(path, flags);  // EPERM comes from an old seccomp filter
      if (errno != EAGAIN && errno != EINTR) return -1;
    }
    return -1;
  }

  // For kernels before 5.6. Not safe against concurrent changes, but recordings do not change.
  int open_walked(const std::string& path, int flags) const {
    auto probe = [this](const std::string& at) {
      struct stat status{};
      if (::fstatat(root_.get(), below_root(at), &status, AT_SYMLINK_NOFOLLOW) != 0) return PathEntry{};
      if (S_ISDIR(status.st_mode)) return PathEntry{PathEntry::Kind::kDirectory, {}};
      if (!S_ISLNK(status.st_mode)) return PathEntry{PathEntry::Kind::kFile, {}};
      char target[PATH_MAX];
      ssize_t length = ::readlinkat(root_.get(), below_root(at), target, sizeof target);
      return PathEntry{PathEntry::Kind::kLink, std::string(target, length > 0 ? static_cast<size_t>(length) : 0)};
    };
    auto resolved = walk_path(path, probe, (flags & O_NOFOLLOW) != 0 ? LastLink::kKeep : LastLink::kFollow);
    if (!resolved) {
      errno = resolved.error();
      return -1;
    }
    return ::openat(root_.get(), below_root(*resolved), flags | O_NOFOLLOW);
  }

  bool whole_machine_;
  std::string root_name_;
  Descriptor root_;
  int root_errno_;
  std::string root_path_;
};

}  // namespace

HeldFolder::HeldFolder(const FileTree& files, const std::string& folder) {
  if (const auto* real = dynamic_cast<const RealFiles*>(&files)) found_ = real->hold(folder);
}
HeldFolder::~HeldFolder() = default;

Result<bool> FileTree::is_in_use(const std::string& path) const {
  return fail(Code::kUnsupported, "open {}: only a live machine says whether it is in use", path);
}

Result<std::string> read_line(const FileTree& files, const std::string& path) {
  std::string text = TRY(files.read(path));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\t' || text.back() == '\r' ||
                           text.back() == '\0'))
    text.pop_back();
  return text;
}

Result<std::string> link_name(const FileTree& files, const std::string& path) {
  std::string target = TRY(files.read_link(path));
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  return target.substr(target.rfind('/') + 1);
}

std::unique_ptr<FileTree> real_files(const std::string& root) {
  return std::make_unique<RealFiles>(root);
}

}  // namespace railbed::os
