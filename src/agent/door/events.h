// SPDX-License-Identifier: Apache-2.0
// Errors since the agent started: for `railbed status`, which reads them over the agent's socket.
//
// Why: a log line may no longer be available when a user looks, and a full disk cannot be reported on that disk. Events
// are in memory, up to a limit; a repeated error is the same event, with a count and its first time.
// Threading: any thread.
// Failure: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "agent/context/request_context.h"
#include "cni/request.h"
#include "doc/value.h"

namespace railbed::agent {

struct Event {
  using Time = std::chrono::system_clock::time_point;
  std::string kind;   // one of a few words: "api-server", "disk", "pending-del", "limit", "threads", "metrics",
                      // "recovery", "request", "manifests"
  std::string about;  // a file, a verb with its code; may be empty
  std::string last_error;
  uint64_t count = 0;
  Time first;
  Time last;
  friend bool operator==(const Event&, const Event&) = default;
};

class Events {
 public:
  static constexpr size_t kMost = 64;  // beyond it, the one that has not happened for the longest time goes
  explicit Events(std::function<Event::Time()> now = std::chrono::system_clock::now) : now_(std::move(now)) {}

  // How often it has happened now.
  uint64_t happened(std::string_view kind, std::string_view about, std::string_view error);
  // A failed request, under the kind that its code is about.
  void failed(const cni::Request& request, const Error& error);
  // It is no trouble any more.
  void over(std::string_view kind, std::string_view about);
  // The one that happened last comes first.
  std::vector<Event> all() const;

 private:
  const std::function<Event::Time()> now_;
  mutable std::mutex mutex_;
  std::list<Event> events_;  // in that order
};

doc::Value to_value(const Event& event);

}  // namespace railbed::agent
