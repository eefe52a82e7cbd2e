// SPDX-License-Identifier: Apache-2.0
// The agent as a process that can be killed at a chosen call (kill_shim.c), and requests to it as railbed-cni
// makes them.
//
// Threading: request() from any thread, the rest from one. Failure: what the process said last, in words.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace railbed::kill {

struct AgentOptions {
  std::vector<std::string> command;  // "railbed", "agent", …
  std::string shim;                  // the built kill_shim.c
  std::string socket;
  std::string log;
  std::string watched;  // folders whose changes count, separated by ':'
};

struct Answer {
  int status = 0;
  std::string output;
};

class Agent {
 public:
  explicit Agent(AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Starts the agent unless it runs, with `kill_at` for the calls of its start, and waits until it accepts requests.
  // False: it was killed during the start. Throws when it fails to start for another reason.
  bool start(unsigned kill_at = 0, bool after = false);
  void stop();      // SIGTERM, and waits
  void kill_now();  // SIGKILL, from any thread; alive() reaps it
  bool alive();

  // Counts calls from 0 again and kills the agent at call number `at`; 0: never.
  void arm(unsigned at, bool after);
  unsigned calls() const;

  // One request on one connection; nullopt when the agent ended before it answered.
  std::optional<Answer> request(const std::string& type, const std::vector<std::string>& environment,
                                const std::string& config) const;
  std::string last_words() const;

 private:
  struct Control {
    std::atomic<unsigned> count, kill, after;
  };
  int connect() const;
  AgentOptions options_;
  std::string control_path_;
  Control* control_ = nullptr;
  std::atomic<pid_t> pid_{0};
};

}  // namespace railbed::kill
