// SPDX-License-Identifier: Apache-2.0
// Starts programs, inside a network namespace or in this one, and reports this process's privileges.
//
// Threading: any thread.
// Failure: NotFound if the program does not exist; Denied without CAP_SYS_ADMIN.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "os/ports/clock.h"
#include "os/ports/netns.h"

namespace railbed::os {

struct ExecRequest {
  std::vector<std::string> command;      // looked up in PATH
  std::vector<std::string> environment;  // "KEY=value", added to this process's
  std::string netns_path;
};

// Whose program it is. One of others is executed only if root alone can change it, or put another one in its place
// (Denied otherwise); without some rights (os/ports/fence.h) unless it is unfenced.
enum class Trust : uint8_t { kOwn, kOthers, kOthersUnfenced };

// A program that runs to its end while the caller waits. There is no shell, no search in PATH and nothing inherited: it
// gets these arguments, this environment, and only the three standard files.
struct RunRequest {
  std::string program;                   // path; argv[0] too
  std::vector<std::string> arguments;    // from argv[1]
  std::vector<std::string> environment;  // "KEY=value"; nothing else is in it
  std::string input;                     // standard input
  Deadline deadline;
  size_t most_output = 4 << 20;  // per output; the rest is read and dropped
  Trust trust = Trust::kOwn;
};

struct RunResult {
  int exit_status = 0;
  int signal = 0;  // the signal that ended it; 0: it ended by itself
  std::string output;
  std::string errors;
};

class ProcessPort {
 public:
  virtual ~ProcessPort() = default;
  // Replaces this process by the command inside the namespace, with /sys showing that namespace's devices (a
  // private mount, as `ip netns exec` does). Returns only on failure.
  virtual Result<void> exec_in(const ExecRequest& request) = 0;
  // Waits for the program's end. At the deadline the program and everything it started get SIGTERM, a second later
  // SIGKILL, and the result is Timeout. They also get SIGKILL when this process ends. An executable that is being
  // written at the moment is tried again for two seconds. The result says how the program ended.
  virtual Result<RunResult> run(const RunRequest& request) = 0;
  // This process is about to end: all programs that run() waits for get SIGTERM, half a second later SIGKILL, with all
  // that they started, and their run() fails with Canceled, as every later one does. From any thread; does not wait.
  virtual void end_all() = 0;
  // Names this process among all that ran since boot: its number and when it began.
  virtual std::string identity() const = 0;
  // Names of the capabilities of `wanted` ("CAP_NET_ADMIN", "CAP_SYS_ADMIN") that this process lacks.
  virtual std::vector<std::string> missing_capabilities(const std::vector<std::string>& wanted) const = 0;
  // Loads a kernel module (modprobe); fine when it is built in or already loaded.
  virtual Result<void> load_module(const std::string& name) = 0;
};

std::unique_ptr<ProcessPort> real_processes();

}  // namespace railbed::os
