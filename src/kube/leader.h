// SPDX-License-Identifier: Apache-2.0
// Leader election among several processes, with a Lease.
//
// Why: controllers that write the same objects must not run concurrently. The leader renews its Lease; it may act until
// `renew_deadline` after the start of the last successful renewal. Others may take the Lease `lease_duration` after
// they saw it change, which is later. Both sides measure with their own clock since boot, so clocks of machines need
// not agree, and a leader that was stopped or suspended detects on resuming that it no longer leads: leads() checks the
// clock, not a flag. Call it before each write.
// Threading: run() in one thread, in which the observers are called; leads() and holder() from any.
// Failure: none; a candidate that cannot reach the API server does not lead, and error() has the reason.
// Source: coordination.k8s.io/v1 Lease; client-go's tools/leaderelection, whose times and fields these are.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "kube/client.h"
#include "kube/right.h"

namespace railbed::kube {

struct LeaderSettings {
  ObjectKey lease;
  std::string identity;  // of this process and no other, as the pod's name and a random number
  milliseconds lease_duration{15000};
  milliseconds renew_deadline{10000};
  milliseconds retry_period{2000};
};

// The part of a Lease that elections are about.
struct LeaseRecord {
  std::string holder;
  milliseconds duration{};
  std::string acquired;
  std::string renewed;
  int transitions = 0;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};
LeaseRecord lease_record(const doc::Value& lease);

// Another one's Lease as it was seen, and since when it has not changed.
struct SeenLease {
  LeaseRecord record;
  Instant unchanged_since{};
};
// Whether this Lease has no leader any more. Pure.
bool may_be_taken(const SeenLease& seen, Instant now);

class LeaderElection {
 public:
  static constexpr Right kRights[] = {
      {.kind = kLeases, .verbs = Verb::kGet | Verb::kCreate | Verb::kUpdate, .where = Where::kOwnNamespace}};

  using Observer = std::function<void()>;

  // `transport` and `clock` outlive it.
  LeaderElection(Transport& transport, Clock& clock, LeaderSettings settings, Observer on_lead = {},
                 Observer on_lost = {});
  // Until it is stopped; then the Lease is released, so that another one need not wait. A leader that has lost
  // the Lease becomes a candidate again.
  void run(std::stop_token stop);
  bool leads() const;
  std::string holder() const;  // as it was last seen
  std::optional<Error> error() const;
  ClientCounters counters() const { return client_.counters(); }

 private:
  Answer<void> acquire_or_renew(std::stop_token stop);
  Answer<void> write(doc::Value lease, const LeaseRecord& record, Instant began, std::stop_token stop);
  void look(const LeaseRecord& record);
  void release();
  void notify(bool& led);

  Clock& clock_;
  const LeaderSettings settings_;
  const Observer on_lead_;
  const Observer on_lost_;
  Client client_;
  std::atomic<Instant::duration::rep> leads_until_{0};  // since boot

  mutable std::mutex mutex_;
  SeenLease seen_;
  std::optional<Error> error_;
};

}  // namespace railbed::kube
