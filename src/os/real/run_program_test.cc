// SPDX-License-Identifier: Apache-2.0
#include "os/real/run_program.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/real/descriptor.h"
#include "os/real/unix_socket.h"

namespace railbed::os {
namespace {

RunRequest shell(const std::string& script, std::chrono::milliseconds time = std::chrono::seconds(60)) {
  return {.program = "/bin/sh",
          .arguments = {"-c", script},
          .environment = {},
          .input = "",
          .deadline = std::chrono::steady_clock::now() + time};
}

TEST(RunProgram, GivesArgumentsEnvironmentAndInputAndCollectsBothOutputs) {
  RunRequest request = shell("read line; echo \"$line $COLOUR $1\"; echo oops >&2; exit 3");
  request.arguments.insert(request.arguments.end(), {"name", "; echo no shell"});
  request.environment = {"COLOUR=blue"};
  request.input = "hello\n";
  auto result = run_program(request);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->exit_status, 3);
  EXPECT_EQ(result->signal, 0);
  EXPECT_EQ(result->output, "hello blue ; echo no shell\n");
  EXPECT_EQ(result->errors, "oops\n");
}

TEST(RunProgram, InheritsNothing) {
  Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor open_file(::dup2(file.get(), 57));  // without close-on-exec
  ::setenv("RAILBED_SECRET", "1", 1);
  auto result = run_program(shell("echo /proc/self/fd/*; echo [$RAILBED_SECRET]"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output.find("/57"), std::string::npos) << result->output;
  EXPECT_NE(result->output.find("[]"), std::string::npos);
}

TEST(RunProgram, KeepsSoMuchOutputAndNoMore) {
  RunRequest request = shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done");
  request.most_output = 1000;
  auto result = run_program(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output.size(), 1000u);
  EXPECT_EQ(result->exit_status, 0);
}

TEST(RunProgram, TakesAllOutputOfOneThatEndsAtOnce) {
  RunRequest request = shell("head -c 300000 /dev/zero");
  request.environment = {"PATH=/usr/bin:/bin"};
  auto result = run_program(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output.size(), 300000u);
}

TEST(RunProgram, EndsItWithAllThatItStartedAtTheDeadline) {
  auto result =
      run_program(shell("trap '' TERM; sleep 600 & echo $! >&2; wait; wait; sleep 600", std::chrono::milliseconds(50)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kTimeout);
}

TEST(RunProgram, DoesNotWaitForWhatItLeftBehind) {
  RunRequest request = shell("sleep 600 & echo $!");
  request.environment = {"PATH=/usr/bin:/bin"};
  auto result = run_program(request);
  ASSERT_TRUE(result);
  pid_t left = std::stoi(result->output);
  EXPECT_GT(left, 0);
  ::kill(left, SIGKILL);
}

TEST(RunProgram, ReportsTheSignalThatEndedIt) {
  auto result = run_program(shell("kill -9 $$"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->signal, SIGKILL);
}

// Programs of others get what the runtime would have given them, not what the agent has for itself.
TEST(RunProgram, GivesNeitherOurOpenFilesNorOurProtectionFromTheMemoryKiller) {
  const ProgramLimits before = ProgramLimits::of_this_process();
  EXPECT_GT(before.open_files, 100U);
  const std::string script = "ulimit -Sn; ulimit -Hn; cat /proc/self/oom_score_adj";
  RunRequest request = shell(script);
  request.environment = {"PATH=/usr/bin:/bin"};
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  rlimit fewer = ours;
  fewer.rlim_cur = 200;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);
  const ProgramLimits limits = ProgramLimits::of_this_process();
  allow_open_files(300);
  auto result = run_program(request, -1, {.open_files = limits.open_files, .oom_score = true});
  rlimit raised{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &raised), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &ours), 0);
  EXPECT_EQ(raised.rlim_cur, 300U);
  ASSERT_TRUE(result) << result.error().to_string();
  const std::string hard = ours.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(ours.rlim_max);
  EXPECT_EQ(result->output, fmt::format("200\n{}\n0\n", hard));
}

TEST(RunProgram, SaysThatNoProcessIsLeft) {
  EXPECT_EXIT(
      {
        const rlimit none = {};
        if (::setrlimit(RLIMIT_NPROC, &none) != 0 || (::getuid() == 0 && ::setuid(65534) != 0)) std::_Exit(3);
        auto result = run_program(shell("true"));
        std::_Exit(!result && result.error().code == Code::kExhausted && result.error().sys_errno == EAGAIN ? 42 : 4);
      },
      testing::ExitedWithCode(42), "");
}

// A failed start is reported through memory that vfork() shares. ThreadSanitizer replaces vfork() by fork(), so these
// tests cannot work there.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RAILBED_VFORK_IS_FORK
#endif
#endif
#ifdef RAILBED_VFORK_IS_FORK
constexpr bool kVforkShares = false;
#else
constexpr bool kVforkShares = true;
#endif

TEST(RunProgram, SaysWhatIsNotThere) {
  if (!kVforkShares) GTEST_SKIP() << "ThreadSanitizer makes vfork() a fork()";
  RunRequest request = shell("");
  request.program = "/nowhere/plugin";
  auto result = run_program(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_EQ(result.error().message, "run /nowhere/plugin: ENOENT (No such file or directory)");
  if (::getpid() == 1) return;  // in a namespace of processes of its own this one inherits the orphans of other tests
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left of it";
}

TEST(RunProgram, TriesAnExecutableThatIsBeingWrittenForAWhile) {
  if (!kVforkShares) GTEST_SKIP() << "ThreadSanitizer makes vfork() a fork()";
  std::string path = fmt::format("{}railbed-run-busy.{}", testing::TempDir(), ::getpid());
  Descriptor writing(::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0755));
  {
    Descriptor shell_file(::open("/bin/true", O_RDONLY | O_CLOEXEC));
    char chunk[4096];
    for (ssize_t count; (count = ::read(shell_file.get(), chunk, sizeof chunk)) > 0;)
      ASSERT_EQ(::write(writing.get(), chunk, static_cast<size_t>(count)), count);
  }
  RunRequest request = shell("");
  request.program = path;
  request.arguments = {};
  request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
  auto busy = run_program(request);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().sys_errno, ETXTBSY);
  writing = Descriptor();
  request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto ready = run_program(request);
  ASSERT_TRUE(ready) << ready.error().to_string();
  EXPECT_EQ(ready->exit_status, 0);
  ::unlink(path.c_str());
}

TEST(RunProgram, EndsWithAllThatItStartedWhenTheAgentStops) {
  constexpr std::chrono::minutes kSleep{10};
  const Waker ending;
  const std::string started = fmt::format("{}railbed-run-started.{}", testing::TempDir(), ::getpid());
  std::atomic<bool> over = false;
  std::thread later([&] {
    while (!over && ::access(started.c_str(), F_OK) != 0) std::this_thread::yield();
    ending.wake();
  });
  const auto begun = std::chrono::steady_clock::now();
  auto result =
      run_program(shell("trap '' TERM; sleep 600 & : >" + started + "; wait; wait; sleep 600", kSleep), ending.fd());
  over = true;
  ::unlink(started.c_str());
  later.join();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::kCanceled);
  EXPECT_EQ(result.error().message, "/bin/sh: ended, since the agent is stopping");
  // Wide, for real processes on a slow machine: what it started would sleep for ten minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(120));
  auto another = run_program(shell("true"), ending.fd());
  ASSERT_FALSE(another.has_value());
  EXPECT_EQ(another.error().message, "run /bin/sh: not started, since the agent is stopping");
}

}  // namespace
}  // namespace railbed::os
