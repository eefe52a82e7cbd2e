// SPDX-License-Identifier: Apache-2.0
#include "os/real/peer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/format.h"
#include "os/real/descriptor.h"

namespace railbed::os {
namespace {

#ifndef SO_PEERPIDFD
constexpr int kPeerPidfd = 77;  // linux/socket.h since 6.5
#else
constexpr int kPeerPidfd = SO_PEERPIDFD;
#endif
constexpr const char* kHint = "CNI plugins are run by the container runtime, as root of this machine";

std::unexpected<Error> denied(std::string why) {
  return fail(Error{.code = Code::kDenied, .message = std::move(why), .hint = kHint});
}

Result<FileIdentity> identity_of(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return fail(system_error(errno, "stat " + path));
  return FileIdentity{about.st_dev, about.st_ino};
}

Result<std::string> text_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(system_error(errno, "open " + path));
  std::string text(8192, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return fail(system_error(errno, "read " + path));
  text.resize(static_cast<size_t>(got));
  return text;
}

// Of the line "CapEff:\t000001ffffffffff" of /proc/PID/status.
Result<uint64_t> effective_capabilities(const std::string& proc) {
  const std::string text = TRY(text_of(proc + "/status"));
  constexpr std::string_view kKey = "\nCapEff:\t";
  const size_t at = text.find(kKey);
  uint64_t bits = 0;
  if (at == std::string::npos ||
      std::from_chars(text.data() + at + kKey.size(), text.data() + text.size(), bits, 16).ec != std::errc{})
    return fail(Code::kInvalid, "{}/status has no CapEff", proc);
  return bits;
}

// When the process began, in clock ticks since boot: the 22nd field of /proc/PID/stat, whose second may have blanks.
Result<uint64_t> began(const std::string& proc) {
  const std::string text = TRY(text_of(proc + "/stat"));
  size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  uint64_t ticks = 0;
  if (at == std::string::npos ||
      std::from_chars(text.data() + at + 1, text.data() + text.size(), ticks).ec != std::errc{})
    return fail(Code::kInvalid, "{}/stat has no start time", proc);
  return ticks;
}

uint64_t ticks_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto a_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<uint64_t>(now.tv_sec) * a_second + static_cast<uint64_t>(now.tv_nsec) * a_second / 1'000'000'000;
}

bool has_ended(const Descriptor& pidfd) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) != 0;
}

// The peer's pidfd, or one of the process that has its number now and had it before the look began.
Result<Descriptor> pidfd_of(const Connection& connection, const Peer& peer) {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (::getsockopt(connection.fd(), SOL_SOCKET, kPeerPidfd, &fd, &size) == 0) return Descriptor(fd);
  if (errno == ESRCH || errno == EINVAL) return fail(Code::kNotFound, "the requesting process has exited");
  const uint64_t look_began = ticks_now();
  Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  if (!pidfd) return fail(system_error(errno, fmt::format("pidfd_open {}", peer.pid)));
  if (TRY(began(fmt::format("/proc/{}", peer.pid))) > look_began)
    return fail(Code::kNotFound, "the requesting process has exited");
  return pidfd;
}

Result<void> check_process(const std::string& proc, const TrustedPlaces& places) {
  constexpr uint64_t kSysAdmin = uint64_t{1} << CAP_SYS_ADMIN;
  if (TRY(identity_of(proc + "/ns/user")) != places.user_namespace)
    return denied("the requesting process is in another user namespace than the agent");
  if ((TRY(effective_capabilities(proc)) & kSysAdmin) == 0)
    return denied("the requesting process lacks CAP_SYS_ADMIN, which container runtimes have");
  const auto is_among = [](const std::vector<FileIdentity>& known, const FileIdentity& one) {
    return std::ranges::find(known, one) != known.end();
  };
  if (is_among(places.mounts, TRY(identity_of(proc + "/ns/mnt")))) return {};
  if (is_among(places.roots, TRY(identity_of(proc + "/root")))) return {};
  return denied(
      "the requesting process is in a container: neither its mounts nor its root directory are the machine's");
}

}  // namespace

Result<TrustedPlaces> trusted_places() {
  TrustedPlaces places{.user_namespace = TRY(identity_of("/proc/self/ns/user")),
                       .roots = {TRY(identity_of("/proc/self/root"))},
                       .mounts = {TRY(identity_of("/proc/self/ns/mnt"))}};
  // Where the first process may not be looked at, nothing is trusted for its sake.
  if (const auto root = identity_of("/proc/1/root"); root.has_value()) places.roots.push_back(*root);
  if (const auto mounts = identity_of("/proc/1/ns/mnt"); mounts.has_value()) places.mounts.push_back(*mounts);
  return places;
}

void add_places(TrustedPlaces& places, const TrustedPlaces& more) {
  places.roots.insert(places.roots.end(), more.roots.begin(), more.roots.end());
  places.mounts.insert(places.mounts.end(), more.mounts.begin(), more.mounts.end());
}

Result<void> check_peer(const Connection& connection, uint32_t uid, const TrustedPlaces& places) {
  const Peer peer = TRY(connection.peer());
  if (peer.uid != uid) return denied(fmt::format("the agent serves user {} only", uid));
  if (peer.pid <= 0) return denied("the requesting process is in another PID namespace, where the agent cannot see it");
  const Descriptor pidfd = TRY(pidfd_of(connection, peer));
  Result<void> checked = check_process(fmt::format("/proc/{}", peer.pid), places);
  // What was read is of the peer only if it lives still.
  if (has_ended(pidfd)) return fail(Code::kNotFound, "the requesting process has exited");
  return checked;
}

}  // namespace railbed::os
