// SPDX-License-Identifier: Apache-2.0
#include "state/lock.h"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railbed::state {
namespace {

// flock(2) has no wait with a deadline, so take() retries; only people who wait for another command notice.
constexpr auto kRetryEvery = std::chrono::milliseconds(20);

Error held_by(int fd) {
  char text[256];
  ssize_t length = pread(fd, text, sizeof text, 0);
  std::string holder(text, length > 0 ? static_cast<size_t>(length) : 0);
  return Error{.code = Code::kBusy,
               .message = fmt::format("another railbed{} is running on this machine",
                                      holder.empty() ? "" : fmt::format(" ({})", holder)),
               .hint = "wait until it exits, or use --wait"};
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path, const std::string& command, std::chrono::milliseconds wait) {
  // Everybody who can open a file for reading can lock it, so only root may open it. An earlier version may have
  // created it with wider permissions.
  FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.fd_ < 0) return fail(system_error(errno, "open " + path));
  if (fchmod(lock.fd_, 0600) != 0) return fail(system_error(errno, "chmod " + path));
  auto deadline = std::chrono::steady_clock::now() + wait;
  while (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail(system_error(errno, "flock " + path));
    if (std::chrono::steady_clock::now() >= deadline) return fail(held_by(lock.fd_));
    std::this_thread::sleep_for(kRetryEvery);
  }
  std::string holder =
      command.empty() ? fmt::format("pid {}", getpid()) : fmt::format("pid {}, `{}`", getpid(), command);
  // The name is only for the messages of commands that wait; a full file system must not make taking the lock fail.
  [[maybe_unused]] const bool written =
      ftruncate(lock.fd_, 0) == 0 && pwrite(lock.fd_, holder.data(), holder.size(), 0) >= 0;
  return lock;
}

FileLock::~FileLock() {
  // The name goes first, so that no process that waits for the lock sees the name of a command that has ended.
  if (fd_ < 0) return;
  [[maybe_unused]] int emptied = ftruncate(fd_, 0);
  close(fd_);
}

}  // namespace railbed::state
