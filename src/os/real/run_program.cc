// SPDX-License-Identifier: Apache-2.0
//
// vfork() and not posix_spawn(), which cannot tie the child's life to ours. The child shares our memory until it has
// become the program, so it makes system calls only; everything it needs is prepared before.
#include "os/real/run_program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/real/descriptor.h"
#include "os/real/pointers.h"

namespace railbed::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeToEnd{1};     // between SIGTERM and SIGKILL
constexpr milliseconds kTimeToEndWithUs{500};     // the same, when this process ends, too
constexpr std::chrono::seconds kBusyPatience{2};  // for an executable that is being replaced
constexpr milliseconds kBusyStep{20};
constexpr size_t kChunkBytes = 1 << 16;

struct Pipe {
  Descriptor ours;
  Descriptor theirs;

  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error(errno, "pipe"));
    Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
    ::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK);
    return pipe;
  }
};

// Standard input as a file in memory: no thread has to feed a pipe, and a program that does not read its input causes
// no SIGPIPE.
Result<Descriptor> as_file(const std::string& text) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) return fail(system_error(errno, "memfd_create"));
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error(errno, "write standard input"));
    done += static_cast<size_t>(count);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail(system_error(errno, "lseek"));
  return file;
}

// What the child needs, prepared before it exists.
struct Child {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int files[3];
  pid_t parent;
  rlimit open_files;
  bool oom_score;
  const Fence* fence;              // may be null
  volatile int failure = 0;        // errno of the call that failed in the child
  volatile bool at_fence = false;  // which that was
};

// Runs in the child. dup2() to itself would leave a descriptor close-on-exec; files[] are never 0 to 2, since
// main() opens those that railbed was started without.
[[noreturn]] void become(Child& child) {
  auto give_up = [&child] {
    child.failure = errno;
    ::_exit(127);
  };
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &action, nullptr);
  if (::setpgid(0, 0) != 0) give_up();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
  if (::getppid() != child.parent) ::_exit(127);
  if (child.oom_score) {
    // Where /proc is read-only it stays as it is: no reason not to run the program.
    const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) (void)!::write(score, "0", 1);
  }
  if (::setrlimit(RLIMIT_NOFILE, &child.open_files) != 0) give_up();
  for (int number = 0; number < 3; ++number)
    if (::dup2(child.files[number], number) < 0) give_up();
  ::syscall(SYS_close_range, 3u, ~0u, 0u);  // before 5.9 descriptors without close-on-exec stay open
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (child.fence != nullptr && !child.fence->enter()) {
    child.at_fence = true;
    give_up();
  }
  ::execve(child.program, child.arguments, child.environment);
  give_up();
  ::_exit(127);
}

rlimit open_files_now() {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

// Returns the process id, or -errno. All signals are blocked meanwhile, because no handler of ours may run in the
// child.
[[gnu::noinline]] pid_t start(Child& child) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t pid = ::vfork();
  if (pid == 0) become(child);
  int failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid < 0 ? -failure : pid;
}

void reap(pid_t pid, int& status) {
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

class Running {
 public:
  Running(pid_t pid, const RunRequest& request, int ending, Descriptor output, Descriptor errors)
      : pid_(pid), request_(request), ending_(ending), output_(std::move(output)), errors_(std::move(errors)) {
    watch_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }

  Result<RunResult> finish() {
    bool in_time = wait(request_.deadline);
    const bool canceled = !in_time && is_ending();
    if (!in_time) {
      ::kill(-pid_, SIGTERM);
      ending_ = -1;
      wait(steady_clock::now() + (canceled ? kTimeToEndWithUs : milliseconds(kTimeToEnd)));
      ::kill(-pid_, SIGKILL);  // its descendants may outlive it
    }
    int status = 0;
    reap(pid_, status);
    // The pipes still have what it wrote before it ended. Other processes may keep them open; those are not waited for.
    drain(output_, result_.output);
    drain(errors_, result_.errors);
    if (canceled) return fail(Code::kCanceled, "{}: ended, since the agent is stopping", request_.program);
    if (!in_time) return fail(Code::kTimeout, "{}: still running at the deadline, ended", request_.program);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    if (WIFEXITED(status)) result_.exit_status = WEXITSTATUS(status);
    return std::move(result_);
  }

 private:
  bool is_ending() const {
    pollfd ending{ending_, POLLIN, 0};
    return ::poll(&ending, 1, 0) > 0;
  }

  // True when it has ended; false at the deadline, or when this process is to end.
  bool wait(steady_clock::time_point deadline) {
    while (true) {
      pollfd files[4] = {
          {watch_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {ending_, POLLIN, 0}};
      auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
      int ready = ::poll(files, 4, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
      if (ready < 0 && errno != EINTR) return false;
      if (ready == 0 && left <= 0) return false;
      if (ready <= 0) continue;
      if (files[1].revents != 0) drain(output_, result_.output);
      if (files[2].revents != 0) drain(errors_, result_.errors);
      if (files[0].revents != 0) return true;
      if (files[3].revents != 0) return false;
    }
  }

  // Reads what is available; closes the pipe at its end.
  void drain(Descriptor& pipe, std::string& text) const {
    char chunk[kChunkBytes];
    while (pipe) {
      ssize_t count = ::read(pipe.get(), chunk, sizeof chunk);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) {
        pipe = Descriptor();
        return;
      }
      size_t room = request_.most_output - std::min(text.size(), request_.most_output);
      text.append(chunk, std::min(static_cast<size_t>(count), room));
      // One pass is bounded, or a program that writes without end would keep us here forever.
      if (static_cast<size_t>(count) < sizeof chunk) return;
    }
  }

  pid_t pid_;
  const RunRequest& request_;
  int ending_;  // -1: not looked at any more
  Descriptor output_;
  Descriptor errors_;
  Descriptor watch_;
  RunResult result_;
};

}  // namespace

ProgramLimits ProgramLimits::of_this_process() {
  ProgramLimits limits{.open_files = open_files_now().rlim_cur, .oom_score = false};
  const Descriptor file(::open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC));
  char first = 0;
  if (file && ::read(file.get(), &first, 1) == 1) limits.oom_score = first == '-';
  return limits;
}

void allow_open_files(uint64_t most) {
  rlimit limit = open_files_now();
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, most));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<RunResult> run_program(const RunRequest& request, int ending, const ProgramLimits& limits, const Fence* fence) {
  std::string what = "run " + request.program;
  if (pollfd stop{ending, POLLIN, 0}; ::poll(&stop, 1, 0) > 0)
    return fail(Code::kCanceled, "{}: not started, since the agent is stopping", what);
  if (request.trust != Trust::kOwn) TRY(only_root_changes(request.program).context("{}", what));
  Descriptor input = TRY(as_file(request.input).context("{}", what));
  Pipe output = TRY(Pipe::make().context("{}", what));
  Pipe errors = TRY(Pipe::make().context("{}", what));
  std::vector<std::string> arguments = {request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<char*> argument_pointers = pointers(arguments);
  std::vector<char*> environment_pointers = pointers(request.environment);
  rlimit open_files = open_files_now();
  if (limits.open_files != 0) open_files.rlim_cur = std::min<rlim_t>(limits.open_files, open_files.rlim_max);
  auto patience = std::min(request.deadline, steady_clock::now() + kBusyPatience);
  while (true) {
    Child child{.program = request.program.c_str(),
                .arguments = argument_pointers.data(),
                .environment = environment_pointers.data(),
                .files = {input.get(), output.theirs.get(), errors.theirs.get()},
                .parent = ::getpid(),
                .open_files = open_files,
                .oom_score = limits.oom_score,
                .fence = fence};
    pid_t pid = start(child);
    if (pid < 0) {
      Error failure = system_error(-pid, what);
      // No process can be started: more of the same would not help.
      if (failure.sys_errno == EAGAIN) failure.code = Code::kExhausted;
      return fail(std::move(failure));
    }
    if (child.failure == 0) {
      output.theirs = Descriptor();
      errors.theirs = Descriptor();
      return Running(pid, request, ending, std::move(output.ours), std::move(errors.ours)).finish();
    }
    int status = 0;
    reap(pid, status);
    if (child.at_fence) return fail(system_error(child.failure, what + ": taking rights from it"));
    if (child.failure != ETXTBSY || steady_clock::now() >= patience) return fail(system_error(child.failure, what));
    ::poll(nullptr, 0, static_cast<int>(kBusyStep.count()));
  }
}

Error replace_process(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  ::execv(program.c_str(), pointers(all).data());
  return system_error(errno, "exec " + program);
}

}  // namespace railbed::os
