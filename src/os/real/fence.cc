// SPDX-License-Identifier: Apache-2.0
#include "os/real/fence.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/format.h"
#include "os/ports/fence.h"
#include "os/real/capabilities.h"
#include "os/real/descriptor.h"
#include "os/real/path_walk.h"

namespace railbed::os {
namespace {

// Families by their numbers in linux/socket.h; the kernel knows fewer than this.
constexpr int kMostFamilies = 64;
constexpr std::pair<std::string_view, int> kFamilies[] = {{"AF_UNIX", AF_UNIX},
                                                          {"AF_INET", AF_INET},
                                                          {"AF_INET6", AF_INET6},
                                                          {"AF_NETLINK", AF_NETLINK},
                                                          {"AF_PACKET", AF_PACKET}};

struct Release {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

bool is_allowed_family(int family) {
  for (const auto& [name, number] : kFamilies)
    if (number == family) return std::ranges::find(kFenceFamilies, name) != std::end(kFenceFamilies);
  return false;
}

// The first failure, as an errno; 0: all rules are in.
int add_rules(scmp_filter_ctx filter) {
  int failed = ::seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
  // enter() has set it, and the library would do so in this process.
  if (failed == 0) failed = ::seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
  if (failed == 0) failed = ::seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a search tree
  const auto deny = [&](int call, int error) {
    if (failed == 0) failed = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), call, 0);
  };
  const auto deny_if = [&](int call, int error, scmp_arg_cmp argument) {
    if (failed == 0) failed = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), call, 1, argument);
  };
  for (const CallGroup& group : fence_calls())
    for (const std::string_view name : group.calls)
      if (const int call = ::seccomp_syscall_resolve_name(std::string(name).c_str()); call != __NR_SCMP_ERROR)
        deny(call, EPERM);
  for (const unsigned long kind :
       {CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWCGROUP}) {
    const scmp_arg_cmp has_flag = SCMP_A0(SCMP_CMP_MASKED_EQ, kind, kind);
    deny_if(SCMP_SYS(clone), EPERM, has_flag);
    deny_if(SCMP_SYS(unshare), EPERM, has_flag);
    deny_if(SCMP_SYS(setns), EPERM, SCMP_A1(SCMP_CMP_MASKED_EQ, kind, kind));
  }
  deny_if(SCMP_SYS(setns), EPERM, SCMP_A1(SCMP_CMP_EQ, 0));  // any kind
  deny(SCMP_SYS(clone3), ENOSYS);  // its flags are in memory, where no filter sees them: libc takes clone() then
  for (int family = 0; family < kMostFamilies; ++family)
    if (!is_allowed_family(family))
      deny_if(SCMP_SYS(socket), EAFNOSUPPORT, SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family)));
  deny_if(SCMP_SYS(socket), EAFNOSUPPORT, SCMP_A0(SCMP_CMP_GE, kMostFamilies));
  return -failed;
}

Result<std::vector<sock_filter>> compiled(scmp_filter_ctx filter) {
  const Descriptor file(::memfd_create("fence", MFD_CLOEXEC));
  if (!file) return fail(system_error(errno, "memfd_create"));
  if (const int failed = ::seccomp_export_bpf(filter, file.get()); failed != 0)
    return fail(system_error(-failed, "seccomp_export_bpf"));
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return fail(system_error(errno, "fstat"));
  std::vector<sock_filter> program(static_cast<size_t>(about.st_size) / sizeof(sock_filter));
  if (program.empty() || program.size() > BPF_MAXINSNS)
    return fail(Code::kInternal, "the fence has {} instructions", program.size());
  const auto bytes = static_cast<ssize_t>(program.size() * sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<size_t>(bytes), 0) != bytes)
    return fail(system_error(errno, "read the fence"));
  return program;
}

std::unexpected<Error> others_change(const std::string& program, const std::string& path, std::string_view how) {
  return fail(Error{.code = Code::kDenied,
                    .message = fmt::format("{}: {} {}", program, path, how),
                    .hint = "programs that the agent executes as root must be writable by root only: chown root, chmod "
                            "go-w"});
}

Result<void> check_one(const std::string& program, const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return fail(system_error(errno, "lstat " + path));
  if (about.st_uid != 0) return others_change(program, path, fmt::format("belongs to user {}", about.st_uid));
  const bool sticky = S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX) != 0;
  if (S_ISLNK(about.st_mode) || sticky) return {};
  if ((about.st_mode & S_IWOTH) != 0) return others_change(program, path, "is writable by all users");
  if ((about.st_mode & S_IWGRP) != 0 && about.st_gid != 0)
    return others_change(program, path, fmt::format("is writable by group {}", about.st_gid));
  return {};
}

}  // namespace

Result<Fence> Fence::make() {
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) return fail(Code::kUnsupported, "seccomp_init: this machine has no system call filters");
  if (const int failed = add_rules(filter.get()); failed != 0) return fail(system_error(failed, "seccomp_rule_add"));
  Fence fence;
  fence.filter_ = TRY(compiled(filter.get()));
  for (const std::string_view name : kFenceCapabilities)
    if (const auto number = capability_number(name)) fence.kept_ |= 1UL << *number;
  return fence;
}

bool Fence::enter() const {
  for (int number = 0; number <= 63; ++number) {
    if ((kept_ & (1UL << number)) != 0) continue;
    const int held = ::prctl(PR_CAPBSET_READ, number, 0, 0, 0);
    if (held < 0) break;  // the kernel knows no more
    if (held > 0 && ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0) return false;
  }
  // What is inherited would come back with the program of user 0.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[2] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return false;
  held[0].inheritable = held[1].inheritable = 0;
  if (::syscall(SYS_capset, &header, held) != 0) return false;
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const sock_fprog program{static_cast<unsigned short>(filter_.size()), const_cast<sock_filter*>(filter_.data())};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

Result<void> only_root_changes(const std::string& path) {
  // Each entry on the way is looked at when the walk comes to it.
  Result<void> checked;
  const auto probe = [&](const std::string& at) -> PathEntry {
    struct stat about{};
    if (::lstat(at.c_str(), &about) != 0) return {};
    if (checked.has_value()) checked = check_one(path, at);
    if (S_ISDIR(about.st_mode)) return {.kind = PathEntry::Kind::kDirectory, .target = ""};
    if (!S_ISLNK(about.st_mode)) return {.kind = PathEntry::Kind::kFile, .target = ""};
    std::string target(static_cast<size_t>(PATH_MAX), '\0');
    const ssize_t length = ::readlink(at.c_str(), target.data(), target.size());
    target.resize(static_cast<size_t>(std::max<ssize_t>(length, 0)));
    return {.kind = PathEntry::Kind::kLink, .target = target};
  };
  const auto walked = walk_path(path, probe, LastLink::kFollow);
  if (!walked.has_value()) return fail(system_error(walked.error(), "look at " + path));
  return checked;
}

}  // namespace railbed::os
