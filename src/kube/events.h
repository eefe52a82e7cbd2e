// SPDX-License-Identifier: Apache-2.0
// Events that users see with `kubectl get events` and `kubectl describe`.
//
// Why: what railbed refuses or repairs must be visible at the object, where people look. Recording an event never
// blocks the caller: the queue is bounded, and events that do not fit are dropped and counted. Repeated events become a
// series of one Event (same controller, reason, action, type and object, regardless of the note), so that a pod which
// fails every second creates one object and two requests a minute.
// Threading: record() and counters() from any thread, run() in its own thread.
// Failure: not reported to the caller; counted.
// Source: events.k8s.io/v1; client-go's tools/events, whose series also end after 6 minutes without a repeat.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "kube/client.h"
#include "kube/right.h"

namespace railbed::kube {

enum class EventType : uint8_t { kNormal, kWarning };

// The object that an event is about.
struct Regarding {
  std::string api_version;
  std::string kind;
  ObjectKey key;
  std::string uid;
  friend auto operator<=>(const Regarding&, const Regarding&) = default;
};
Regarding regarding(const doc::Value& object);

struct Occurrence {
  EventType type = EventType::kNormal;
  std::string reason;  // "VfAttached": one word in CamelCase, at most 128 bytes
  std::string action;  // what was being done, as "Attach"
  std::string note;    // for people; cut at 1,024 bytes
  Regarding object;
};

struct EventSettings {
  std::string controller;  // "railbed.dev/agent"
  std::string instance;    // the node or pod that reports
  size_t queue = 1000;
  size_t series = 1000;  // that are remembered
  std::chrono::seconds series_pause{30};
  std::chrono::seconds series_end{360};
};

// Which occurrences become which requests. Pure.
class EventBook {
 public:
  struct Send {
    enum class Type : uint8_t { kCreate, kUpdateSeries };
    Type type = Type::kCreate;
    ObjectKey key;
    doc::Value body;  // the Event, or a merge patch with the series
    Occurrence what;
  };

  explicit EventBook(const EventSettings& settings) : settings_(settings) {}
  // What to send for it now; nothing where it is only counted.
  std::optional<Send> take(const Occurrence& what, WallTime wall, Instant now);
  // Series that have grown since they were sent and may be sent again; those that have ended are forgotten.
  std::vector<Send> due(Instant now);
  // The Event of this series is gone: the next occurrence makes a new one.
  void forget(const Occurrence& what);

 private:
  using Same = std::tuple<EventType, std::string, std::string, Regarding>;
  struct Series {
    Same same;
    Occurrence what;
    ObjectKey key;
    int64_t count = 1;
    WallTime last{};
    Instant seen{};
    Instant sent{};
    bool grown = false;  // since it was sent
  };
  Send update(Series& series, Instant now) const;
  Send create(const Series& series, WallTime wall) const;

  const EventSettings settings_;
  std::list<Series> series_;  // the one that was seen last at the end
  std::map<Same, std::list<Series>::iterator> by_same_;
  int64_t last_named_ = 0;  // nanoseconds since 1970
};

struct EventCounters {
  uint64_t recorded = 0;
  uint64_t sent = 0;      // requests that succeeded
  uint64_t repeated = 0;  // occurrences that became part of a series
  uint64_t dropped = 0;   // the queue was full
  uint64_t failed = 0;    // the API server refused it, or was away for too long
};

class EventRecorder {
 public:
  static constexpr Right kRights[] = {{.kind = kEvents, .verbs = Verb::kCreate | Verb::kPatch}};

  // `client` outlives it.
  EventRecorder(Client& client, EventSettings settings);
  // Never blocks.
  void record(Occurrence what);
  void run(std::stop_token stop);
  // Until everything that was recorded is sent or has failed; false after `timeout`. For the end of a program, before
  // `stop`.
  bool flush(milliseconds timeout);
  EventCounters counters() const;

 private:
  void handle(const Occurrence& what, std::stop_token stop);
  void send(const EventBook::Send& request, std::stop_token stop);

  Client& client_;
  const EventSettings settings_;
  EventBook book_;  // of run()'s thread
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Occurrence> queue_;
  bool busy_ = false;
  EventCounters counters_;
};

}  // namespace railbed::kube
