// SPDX-License-Identifier: Apache-2.0
// Writes the status of this node's SriovNetworkNodeState, as rarely as possible (node_status_pace.h).
//
// Why separate from the loop: the machine is scanned and changed also while the API server is slow. One server-side
// apply on the status subresource, which needs no other right, with the uid: a re-created node state never gets the
// status of the old one. The latest status wins; an unchanged status is not written.
// What a drain of the node has come to is an annotation, since definitions of the SR-IOV operator prune what they do
// not know of a status. It is a request of its own, because metadata is ignored in those of the status: a merge patch
// with the uid, on change only. An admission policy (deploy/drains/agent.yaml) lets an agent write nothing else there.
// Threading: want(), want_drain_report(), wake() and counters() from any thread; run() in its own.
// Failure: not reported to the caller; counted, kept, and retried.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/cluster/node_status_pace.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/kinds.h"
#include "kube/right.h"

namespace railbed::agent {

inline constexpr const char* kAgentManager = "railbed-agent";  // of the fields that it applies

class NodeStatusWriter {
 public:
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kNodeStates, .verbs = kube::Verb::kApply, .part = kube::Part::kStatus},
      {.kind = kube::kNodeStates,
       .verbs = kube::Verb::kPatch,
       .granted_by = kube::GrantedBy::kDrains,
       .why = "the annotation railbed.dev/drain-report"}};

  struct Counters {
    uint64_t written = 0;
    uint64_t failed = 0;
    std::string error;         // of the last write of the status, where it failed
    std::string report_error;  // the same of the report of a drain
  };
  // The node state as it is known here; null where there is none.
  using Stored = std::function<kube::ObjectPtr()>;

  // `client` outlives it.
  NodeStatusWriter(kube::Client& client, kube::ObjectKey key, Stored stored);

  void want(std::string uid, doc::Value status);
  // drain::kReportAnnotation; empty: there is to be none.
  void want_drain_report(std::string uid, std::string text);
  // The node state has changed: perhaps somebody else wrote its status.
  void wake();
  void run(std::stop_token stop);
  Counters counters() const;

 private:
  // Each returns when to look again.
  kube::milliseconds step(std::stop_token stop);
  kube::milliseconds step_of_status(const NodeStatusPace::Wanted& wanted, const doc::Value& object,
                                    std::stop_token stop);
  kube::milliseconds step_of_report(const DrainReportPace::Wanted& wanted, const doc::Value& object,
                                    std::stop_token stop);
  void write(const NodeStatusPace::Wanted& wanted, std::stop_token stop);
  void write(const DrainReportPace::Wanted& wanted, std::stop_token stop);

  kube::Client& client_;
  const kube::ObjectKey key_;
  const Stored stored_;
  NodeStatusPace pace_;          // of run()'s thread
  DrainReportPace report_pace_;  // the same
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<NodeStatusPace::Wanted> wanted_;
  std::optional<DrainReportPace::Wanted> wanted_report_;
  bool awake_ = false;
  Counters counters_;
};

}  // namespace railbed::agent
