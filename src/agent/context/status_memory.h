// SPDX-License-Identifier: Apache-2.0
// Answers to STATUS that require executing other plugins: cached, refreshed in the background.
//
// Why: runtimes call it every few seconds, and a slow program must not keep them waiting. Only the first answer for a
// configuration is waited for. Its codes follow the specification: 51 if a plugin returned it, 50 for every other
// reason, since no ADD can be served then.
// Threading: any thread; the destructor waits for a refresh in progress.
// Failure: the answer's.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cni/request.h"
#include "os/ports/clock.h"

namespace railbed::agent {

class StatusMemory {
 public:
  using LookUp = std::function<Result<void>()>;

  StatusMemory() = default;
  ~StatusMemory();
  StatusMemory(const StatusMemory&) = delete;
  StatusMemory& operator=(const StatusMemory&) = delete;

  // `of` is the key: everything that the answer depends on. `look_up` may run later in another thread, because an
  // answer older than ten seconds is refreshed, one that says no after a second.
  Result<void> answer(os::Clock& clock, const std::string& of, const LookUp& look_up);

  // Why the answers that are not older than a few minutes are no; nothing is looked up.
  std::vector<std::string> failures(const os::Clock& clock) const;

 private:
  struct Known {
    Result<void> answer;
    os::Deadline looked_up;
  };
  Result<void> look(os::Clock& clock, const std::string& of, const LookUp& look_up);

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::atomic<bool> refreshing_ = false;
  std::thread refresher_;
};

}  // namespace railbed::agent
