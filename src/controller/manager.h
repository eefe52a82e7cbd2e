// SPDX-License-Identifier: Apache-2.0
// Runs reconcilers: Lease, caches, a queue with worker threads, and the only way to write.
//
//   caches (a thread each) ─► observers ─► WorkQueue, by key ─► Reconciler::reconcile() ─► apply(), patch(), remove()
//
// Why: nothing is written by an operator that does not lead, or while a list is not known. That is checked before each
// write here, so that no reconciler can forget it. Tasks that are due meanwhile are dropped; once it may write, all
// reconcilers queue all of their tasks. An optional kind that the cluster lacks stops only the reconcilers that cannot
// work without it: it is reported once, listed again and again (kube/informer.h), and once it is there, those that read
// it queue all of their tasks.
// Threading: add() and run() once, in this order; everything else from any thread. Failure: run() has none, it
// continues until it is stopped; snapshot() and the Events say what is wrong.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "controller/cluster.h"
#include "controller/networks.h"
#include "controller/reconciler.h"
#include "controller/work_queue.h"
#include "kube/events.h"
#include "kube/leader.h"

namespace railbed::controller {

struct ManagerSettings {
  std::string ns;        // of the Lease
  std::string identity;  // of this process and no other
  int writers = 8;       // threads; each waits for the API server most of the time
  kube::milliseconds look_period{1000};
};

struct ManagerSnapshot {
  bool leads = false;
  std::string holder;  // of the Lease
  std::string closed;  // why nothing is written; empty: writes
  std::vector<std::pair<std::string, kube::Informer::Health>> caches;
  std::vector<OptionalKindStatus> optional_kinds;
  std::map<std::pair<std::string, bool>, uint64_t> writes;  // by kind, and whether it worked
  size_t waiting = 0;                                       // tasks
  kube::ClientCounters requests;
  kube::EventCounters events;
  kube::Instant looked{};  // when the loop was last seen at work
};

enum class Importance : uint8_t { kInfo, kWarning };

// What a write is about, for counters and the log.
struct WriteOf {
  const kube::Resource& resource;
  std::string what;  // "node state n1: its spec, 2 PFs"
};

class Manager {
 public:
  using Report = std::function<void(Importance, const std::string&)>;

  // All outlive it. `report` is called in any thread.
  Manager(kube::Transport& transport, kube::Clock& clock, ManagerSettings settings, Report report);

  void add(Reconciler& one);
  // Its own, those of the lists in Cluster and of all reconcilers.
  std::vector<kube::Right> rights() const;
  // Until it is stopped; then the Lease is released.
  void run(std::stop_token stop);
  ManagerSnapshot snapshot() const;
  // Nothing is left to do now. For tests.
  bool idle() const { return queue_.idle() && looked_at_everything_; }

  // For reconcilers.
  Cluster& cluster() { return cluster_; }
  kube::Clock& clock() { return clock_; }
  kube::Client& reader() { return reader_; }  // of lists, which may take long
  // For what writes in a protocol of its own: may_write() before each write, wrote() after it.
  kube::Client& writer() { return writer_; }
  bool may_write();
  bool wrote(const kube::Resource& kind, const std::string& what, const kube::ApiError* error);

  void later(std::string_view reconciler, std::string key, kube::milliseconds delay = {});
  // Queues all tasks of all reconcilers.
  void add_everything();

  // Each checks may_write() first (Canceled, neither counted nor logged), counts, and logs a failure.
  kube::Answer<doc::Value> apply(const WriteOf& of, doc::Value object, std::stop_token stop);
  kube::Answer<doc::Value> patch(const WriteOf& of, const kube::ObjectKey& key, const doc::Value& patch,
                                 std::stop_token stop);  // a merge patch
  // An object that is gone already is removed.
  kube::Answer<void> remove(const WriteOf& of, const kube::ObjectKey& key, const kube::Preconditions& preconditions,
                            std::stop_token stop);

  void report(Importance importance, const std::string& line) { report_(importance, line); }
  void event(kube::EventType type, std::string reason, std::string note, kube::Regarding about);
  // A warning in the log and as an Event of the operator's namespace.
  void report_of_namespace(const std::string& reason, const std::string& note);

  // The definition of a kind, without a UID where the operator may not look; NotFound, and Conflict while it is being
  // deleted.
  Result<KindDefinition> definition_of(const kube::Resource& kind, std::stop_token stop);

 private:
  void work(std::stop_token stop);
  bool carry_out(const Task& task, std::stop_token stop);  // false: again later
  void look(const std::stop_token& stop);
  void look_at_optional_kinds();
  std::string effects_of(OptionalKind kind, Availability availability) const;
  bool waits(const Reconciler& one) const;  // for an optional kind
  std::string why_closed() const;

  kube::Clock& clock_;
  const ManagerSettings settings_;
  const Report report_;
  kube::Client reader_;
  // A write that began while this one led has ended before another one may lead.
  kube::Client writer_;
  kube::EventRecorder recorder_;
  kube::LeaderElection election_;
  WorkQueue queue_;
  Cluster cluster_;
  std::vector<Reconciler*> reconcilers_;
  std::atomic<bool> missed_{true};  // tasks were dropped: everything is looked at when it may write
  std::atomic<bool> looked_at_everything_{false};

  std::map<OptionalKind, Availability> optional_;  // as look() has seen and reported it last

  mutable std::mutex mutex_;
  std::set<Reconciler*> dropped_;  // those whose tasks came while they had to wait
  std::string closed_ = "it has not checked yet";
  kube::Instant looked_{};
  std::map<std::pair<std::string, bool>, uint64_t> writes_;
};

}  // namespace railbed::controller
