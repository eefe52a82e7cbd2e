// SPDX-License-Identifier: Apache-2.0
// A time limit for the exit of a process that is asked to stop.
//
// Why: the process that replaces an agent waits for its exit, and systemd kills it after a while. Everything that an
// agent waits for has a deadline or checks for the stop, except a list of two thousand namespaces, or a thread that
// gets no processor. Interrupted work is in the records, as after `kill -9`.
// Threading: `end` is called in its own thread, while all others continue.
// Failure: without a thread, the constructor throws std::system_error.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace railbed::agent {

class LastMoment {
 public:
  // Calls `end` once if this still exists so long after `asked` was asked to stop.
  LastMoment(std::stop_token asked, std::chrono::milliseconds after, std::function<void()> end);

 private:
  std::jthread thread_;
};

}  // namespace railbed::agent
