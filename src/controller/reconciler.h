// SPDX-License-Identifier: Apache-2.0
// What keeps one kind of object in the desired state.
//
// Why: a kind with its watches, decision, writes and rights is one class in one file and one line in operator.h; the
// manager (manager.h) has the Lease, the caches, the queue and the only way to write. Decisions are pure functions
// beside it.
// Threading: watch() before anything runs; observers run in the threads of their caches; reconcile() runs in several
// threads at once, never for the same key. Failure: reconcile() returns false, and is called again with backoff.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "controller/cluster.h"
#include "kube/right.h"

namespace railbed::controller {

// An optional kind that a reconciler reads, and what it does while the kind is absent or forbidden. While it is not
// listed yet, all who read it wait.
struct OptionalRead {
  enum class Without : uint8_t {
    kWaits,   // it is not called
    kGoesOn,  // it leaves alone what depends on that kind's objects
  };
  OptionalKind kind;
  Without without;
};

class Reconciler {
 public:
  Reconciler() = default;
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;
  virtual ~Reconciler() = default;

  // Of its tasks, and unique: "node state".
  virtual std::string_view name() const = 0;
  // What it asks the API server for beyond the lists of Cluster: deploy/rbac/operator.yaml is made of it.
  virtual std::span<const kube::Right> rights() const = 0;
  virtual std::span<const OptionalRead> optional_kinds() const { return {}; }
  // Registers which changes of which kinds make which tasks (Cluster::observe).
  virtual void watch() = 0;
  // Called only while the manager may write. Of `key` there is one call at a time.
  virtual bool reconcile(const std::string& key, std::stop_token stop) = 0;
  // Queues all of its tasks: some may have been dropped while nothing could be written.
  virtual void add_all() = 0;
  // From now on the manager may write; before add_all().
  virtual void opened(const std::stop_token& /*stop*/) {}
};

}  // namespace railbed::controller
