// SPDX-License-Identifier: Apache-2.0
// The standalone engine: manifests → this machine, and back.
//
// Why: `railbed up` and `down` are thin; their logic is here, over the ports of `os` and a Store, so that tests run it
// over the fake kernel and kill it at every step. Order of up(): finish or undo what a killed run left; detach what the
// manifests no longer contain, or have changed; apply the steps on PFs; attach. Everything is written to the store
// before it is done.
// Threading: one thread calls; PFs are handled in parallel inside.
// Failure: an Error if nothing could be started; later failures are in the report, and the rest of the node continues.
#pragma once

#include <string>
#include <vector>

#include "api/objects.h"
#include "apply/apply.h"
#include "doc/diagnostic.h"
#include "facts/node_facts.h"
#include "node/pod_decisions.h"
#include "node/pod_server.h"
#include "node/resolved.h"

namespace railbed::node {

struct Settings {
  std::string node;  // this machine's name; empty: its host name
  std::string resource_prefix = "openshift.io";
  bool soft_rdma = false;  // an rxe device on each RDMA-marked VF of a pod
  bool disrupt = false;    // allows changes that take VFs from pods
  apply::Options apply;
  PodServer* pod_server = nullptr;        // attaches and detaches pods; null: this process does
  PodsBy pods_by = PodsBy::kThisProcess;  // who would, for a caller that only looks
  graph::PodPlacement placement = graph::PodPlacement::kNotChecked;

  PodsBy by() const { return pod_server != nullptr ? PodsBy::kAgent : pods_by; }
};

class Progress : public apply::Progress {
 public:
  virtual void says(const std::string& what) = 0;  // what the run does besides the plan's steps
};

struct PodFailure {
  std::string pod;        // "namespace/name"
  std::string interface;  // empty: the pod as a whole
  Error error;
};

struct PodsReport {
  std::vector<std::string> recovered;  // what a killed run had left behind, one line each
  std::vector<std::string> attached;   // "llm/worker-0: net1 is VF 0000:01:10.0 (eth0), 10.10.0.10/24"
  std::vector<std::string> detached;
  std::vector<std::string> notes;  // what could not be restored exactly
  std::vector<PodFailure> failures;
  bool canceled = false;  // a stop was requested before everything was done

  bool complete() const { return failures.empty() && !canceled; }
};

struct UpReport {
  plan::NodePlan plan;
  apply::Report applied;
  PodsReport pods;
  std::vector<std::string> notes;  // pods of other nodes, …
  doc::Diagnostics diagnostics;    // of the manifests against this machine
  apply::milliseconds took{0};

  bool did_nothing() const;  // nothing had to be done
  bool complete() const;     // nothing failed, was refused or was canceled
};

// What the manifests come to on a machine: the steps on PFs and those of pods, with all that they follow from.
struct Seen : Resolved {
  using Resolved::Resolved;
  PodsThere there;
  PodDecisions pods;
};

// Over values: the machine as it is, and what it and the state have of pods. `objects` must outlive the result.
std::unique_ptr<Seen> resolve(const api::Objects& objects, const facts::NodeFacts& facts, PodsThere there,
                              const Settings& settings);

// The one reading of the kernel that a run works from. Changes nothing. `store` is null where there is no state;
// `objects` must outlive the result.
Result<std::unique_ptr<Seen>> look(os::Kernel& kernel, state::Store* store, const api::Objects& objects,
                                   const Settings& settings);
// Without its pods, for who attaches one pod at a time.
std::unique_ptr<Resolved> look_at_vfs(os::Kernel& kernel, const api::Objects& objects, const Settings& settings);

// `seen` is what look() gave while this process had the store to itself: the machine has not changed since, and its
// steps are those that are carried out. Only where one of those before PFs fails is the machine read again.
Result<UpReport> up(os::Kernel& kernel, state::Store& store, std::unique_ptr<Seen> seen, const Settings& settings,
                    Progress& progress);

struct DownReport {
  apply::Report applied;
  PodsReport pods;
  std::vector<std::string> held_back;  // changes that wait for VFs in namespaces of others
  size_t pfs = 0;                      // restored ones
  apply::milliseconds took{0};

  bool did_nothing() const;
  bool complete() const { return applied.complete() && pods.complete() && held_back.empty(); }
};

// Detaches all pods, removes their namespaces, restores the PFs, and forgets everything that succeeded.
Result<DownReport> down(os::Kernel& kernel, state::Store& store, const Settings& settings, Progress& progress);

// How many interfaces of pods the plan's steps attach, detach or change.
size_t pending_interfaces(const plan::NodePlan& plan);

}  // namespace railbed::node
