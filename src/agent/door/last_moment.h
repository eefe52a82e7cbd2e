// SPDX-License-Identifier: Apache-2.0
// The last moment of a process that is asked to stop.
//
// Why: whoever replaces an agent waits for its end, and systemd kills it after a while. Everything that an agent waits
// for has a deadline or looks at the stop, but a list of two thousand namespaces, or a thread that gets no processor,
// has neither. What is cut off is in the records, as after `kill -9`. Threading: `end` is called in a thread of its
// own, while all others go on. Failure: without a thread, the constructor throws std::system_error.
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
