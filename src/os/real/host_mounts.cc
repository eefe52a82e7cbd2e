// SPDX-License-Identifier: Apache-2.0
#include "os/real/host_mounts.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/real/descriptor.h"

namespace railbed::os {
namespace {

std::unexpected<Error> refused(std::string what, std::string hint) {
  Error error = system_error(errno, std::move(what));
  error.hint = std::move(hint);
  return fail(std::move(error));
}

// A signal that ended the child ends this process with the status that a shell gives it.
[[noreturn]] void stay_behind(pid_t child, const sigset_t& handled) {
  for (;;) {
    const int number = ::sigwaitinfo(&handled, nullptr);
    if (number == SIGTERM || number == SIGINT) ::kill(child, number);
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child) continue;
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
}

}  // namespace

Result<void> enter_host_mounts(const std::string& path) {
  const Descriptor mounts(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!mounts) return refused("open " + path, "the pod needs hostPID: true, and root");
  struct stat theirs{};
  struct stat ours{};
  if (::fstat(mounts.get(), &theirs) != 0 || ::stat("/proc/self/ns/mnt", &ours) != 0)
    return fail(system_error(errno, "stat " + path));
  if (theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev)
    return fail(Error{.code = Code::kInvalid,
                      .message = path + " is this process's own mount namespace, so there is no other one to enter",
                      .hint = "in a pod, set hostPID: true; outside of one, leave --in-host out"});
  if (::setns(mounts.get(), CLONE_NEWNS) != 0) return refused("setns " + path, "the container has to be privileged");
  return {};
}

Result<void> continue_in_child() {
  sigset_t handled;
  sigset_t before;
  ::sigemptyset(&handled);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) ::sigaddset(&handled, number);
  ::pthread_sigmask(SIG_BLOCK, &handled, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return refused("fork", "the container may not have more processes, or the node no more memory");
  if (child != 0) stay_behind(child, handled);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail(system_error(errno, "prctl PR_SET_PDEATHSIG"));
  if (::getppid() != parent) ::_exit(1);
  return {};
}

Result<std::string> keep_folder(const std::string& folder) {
  Descriptor opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return fail(system_error(errno, "open " + folder));
  return "/proc/self/fd/" + std::to_string(opened.release());
}

}  // namespace railbed::os
