// SPDX-License-Identifier: Apache-2.0
// Waits for tests with threads: until a condition holds, and until a thread is idle.
//
// Threading: any.
// Failure: eventually() returns false after a minute.
#pragma once

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <sys/types.h>

#include "base/format.h"
#include "os/ports/clock.h"

namespace railbed::agent {

// Until it holds, for at most a minute.
template <typename Condition>
bool eventually(const Condition& condition) {
  const auto clock = os::real_clock();
  const os::Deadline end = clock->now() + std::chrono::seconds(60);
  for (int looks = 0; !condition(); ++looks) {
    if (clock->now() > end) return false;
    // What does not come at once needs the processor.
    if (looks < 100)
      std::this_thread::yield();
    else
      clock->wait_until(clock->now() + std::chrono::microseconds(200));
  }
  return true;
}

// How often a thread of this process has given up its processor, or been made to; "" while it has one or wants one. The
// same twice: it sleeps.
inline std::string sleep_of(pid_t thread) {
  std::stringstream status;
  status << std::ifstream(fmt::format("/proc/self/task/{}/status", thread)).rdbuf();
  const std::string text = status.str();
  const size_t switches = text.find("voluntary_ctxt_switches");
  return text.find("\nState:\tS") == std::string::npos || switches == std::string::npos ? "" : text.substr(switches);
}

}  // namespace railbed::agent
