// SPDX-License-Identifier: Apache-2.0
#include "os/real/host_mounts.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/ports/file_tree.h"

namespace railbed::os {
namespace {

TEST(HostMounts, RefusesItsOwnNamespace) {
  const Result<void> entered = enter_host_mounts("/proc/self/ns/mnt");
  ASSERT_FALSE(entered.has_value());
  EXPECT_EQ(entered.error().code, Code::kInvalid);
  EXPECT_EQ(entered.error().message,
            "/proc/self/ns/mnt is this process's own mount namespace, so there is no other one to enter");
}

TEST(HostMounts, ReportsWhatItCannotOpen) {
  const Result<void> entered = enter_host_mounts("/proc/self/ns/nothing");
  ASSERT_FALSE(entered.has_value());
  EXPECT_EQ(entered.error().code, Code::kNotFound);
  EXPECT_EQ(entered.error().hint, "the pod needs hostPID: true, and root");
}

// As the kubelet renews a token: a link to another folder takes the place of the one before.
TEST(HostMounts, AKeptFolderShowsWhatIsReplacedInIt) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("railbed-kept-" + std::to_string(::getpid()));
  fs::create_directories(folder / "first");
  fs::create_directories(folder / "second");
  std::ofstream(folder / "first/token") << "one";
  std::ofstream(folder / "second/token") << "two";
  fs::create_directory_symlink("first", folder / "..data");
  fs::create_symlink("..data/token", folder / "token");

  const Result<std::string> kept = keep_folder(folder);
  ASSERT_TRUE(kept.has_value()) << kept.error().story();
  const auto files = real_files("/");
  EXPECT_EQ(files->read(*kept + "/token").value_or(""), "one");
  fs::create_directory_symlink("second", folder / "..new");
  fs::rename(folder / "..new", folder / "..data");
  EXPECT_EQ(files->read(*kept + "/token").value_or(""), "two");
  fs::remove_all(folder);

  const Result<std::string> none = keep_folder(folder);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::kNotFound);
}

// Runs `body` where it may fork and be ended, and returns how that process ended.
int ended(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(HostMounts, WhoStaysBehindEndsAsTheChildDoes) {
  EXPECT_EQ(ended([] {
              if (continue_in_child().has_value()) ::_exit(7);
            }),
            7);
  EXPECT_EQ(ended([] {
              if (continue_in_child().has_value()) ::raise(SIGKILL);
            }),
            128 + SIGKILL);
}

TEST(HostMounts, WhoStaysBehindPassesSignalsOn) {
  const int got = ended([] {
    const pid_t first = ::getpid();
    if (!continue_in_child().has_value()) ::_exit(1);
    sigset_t wanted;
    ::sigemptyset(&wanted);
    ::sigaddset(&wanted, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    ::kill(first, SIGTERM);  // as a runtime does
    int number = 0;
    ::sigwait(&wanted, &number);
    ::_exit(number == SIGTERM ? 8 : 1);
  });
  EXPECT_EQ(got, 8);
}

TEST(HostMounts, TheChildEndsWithWhoStayedBehind) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int got = ended([&] {
    const pid_t first = ::getpid();
    if (!continue_in_child().has_value()) ::_exit(1);
    ::kill(first, SIGKILL);
    ::pause();
  });
  EXPECT_EQ(got, -SIGKILL);
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the end of the pipe: the other end is closed";
  ::close(ends[0]);
}

}  // namespace
}  // namespace railbed::os
