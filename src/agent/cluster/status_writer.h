// SPDX-License-Identifier: Apache-2.0
// Writes network-status of pods into the API server, asynchronously.
//
// Why separate from ADD: a pod's start must not wait for the API server, and no status may be lost while that is
// unavailable. One server-side apply per pod on pods/status, which needs the right to patch pods/status and no other;
// with the uid, so that a new pod of the same name never gets the old one's. The latest status of a pod wins; a pod
// that no longer exists needs none. Statuses that are not written when the agent exits are found in the state by the
// next one (cluster_source.h).
// Threading: put(), drop() and counters() from any thread, and they never wait for the network; run() in one thread or
// several, which write for different pods.
// Failure: not reported to the caller; counted, and the last one kept.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/well_known.h"
#include "kube/client.h"
#include "kube/kinds.h"
#include "kube/right.h"

namespace railbed::agent {

struct StatusToWrite {
  kube::ObjectKey pod;
  std::string uid;      // of the object in the API server
  std::string sandbox;  // state::Sandbox::key()
  std::string text;     // the annotation
};

class StatusWriter {
 public:
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kPods, .verbs = kube::Verb::kApply, .part = kube::Part::kStatus, .why = "network-status"}};

  struct Settings {
    size_t most = 1024;  // that wait; beyond it the oldest is dropped
    std::chrono::milliseconds first_pause{1000};
    std::chrono::milliseconds longest_pause{60000};
  };
  struct Counters {
    uint64_t written = 0;
    uint64_t failed = 0;   // tries; each is repeated unless the server said that it never will
    uint64_t gone = 0;     // the pod was, before its status was written
    uint64_t dropped = 0;  // refused for good, or no room to wait
    size_t pending = 0;
    std::optional<Error> last_error;  // since the last one that was written
  };

  // `client` outlives this.
  StatusWriter(kube::Client& client, Settings settings);
  void put(StatusToWrite status);
  // The sandbox's networks are gone; one that is being written now may still be.
  void drop(const std::string& sandbox);
  void run(std::stop_token stop);
  Counters counters() const;

 private:
  struct Pending {
    StatusToWrite status;
    kube::Instant due{};
    int failures = 0;
    bool being_written = false;
    // What happened while it was being written: there is a later one, or it is no longer requested.
    bool renewed = false;
    bool unwanted = false;
  };
  using Queue = std::list<Pending>;
  Queue::iterator next(kube::Instant now);
  std::chrono::milliseconds until_next(kube::Instant now) const;
  void conclude(Queue::iterator one, const kube::Answer<doc::Value>& answer);

  kube::Client& client_;
  const Settings settings_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Queue queue_;  // the oldest first
  std::map<kube::ObjectKey, Queue::iterator> by_pod_;
  kube::Instant away_until_{};  // the server cannot be reached: no attempt before
  int away_ = 0;
  Counters counters_;
};

}  // namespace railbed::agent
