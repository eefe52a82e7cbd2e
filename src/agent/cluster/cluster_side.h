// SPDX-License-Identifier: Apache-2.0
// The agent's connection to an API server: caches, statuses, Events, their threads, and their health.
//
// Threading: one thread per cache, one that saves the caches to disk and notifies of changes, some that write statuses,
// one for Events. start() starts them, stop() ends them immediately; calls in flight are abandoned. Everything else is
// for any thread and never blocks.
// Failure: no error ends it; reported by not_ready(), the agent's Events and the report.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/cluster/cluster_source.h"
#include "agent/context/metrics.h"
#include "agent/door/events.h"
#include "cni/request.h"
#include "kube/events.h"

namespace railbed::agent {

class ClusterSide {
 public:
  // For its caches.
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kPods, .verbs = kube::Verb::kList | kube::Verb::kWatch},
      {.kind = kube::kNetworkDefinitions, .verbs = kube::Verb::kList | kube::Verb::kWatch}};

  struct Settings {
    std::string node;
    bool soft_rdma = false;
    bool restrict_definitions = false;  // as ClusterSource's
    std::string server;                 // its URL
    std::string folder;                 // of the caches on disk
    kube::ClientSettings asking{.timeout = std::chrono::milliseconds(5000),
                                .try_timeout = std::chrono::milliseconds(5000),
                                .retry = {.tries = 2},
                                .page = kube::kNodePage,
                                .bounds = kube::kNodeBounds};  // while an ADD waits
    AskOnce::Settings asks{};
    StatusWriter::Settings statuses{};
    std::chrono::milliseconds longest_pause{10000};  // of a cache whose API server is away
    std::chrono::milliseconds save_pause{2000};
    std::chrono::milliseconds keep_period{500};  // between two looks at what is to be saved and what is wrong
    std::function<void()> changed = [] {};       // pods or networks have; in the threads of the caches
    // An API server that has just started refuses what it will allow; after this time it is no such moment any more.
    std::chrono::seconds denied_patience{60};
  };
  // What it works with; all outlive this. `client` is over `transport` too.
  struct Dependencies {
    kube::Client& client;
    kube::Transport& transport;
    os::Disk& disk;
    state::Store& store;
    Events& events;
  };
  ClusterSide(Dependencies deps, const Settings& settings);
  ~ClusterSide();
  ClusterSide(const ClusterSide&) = delete;
  ClusterSide& operator=(const ClusterSide&) = delete;

  ClusterSource& source() { return source_; }
  const KeptCache& pods() const { return pods_; }
  const KeptCache& networks() const { return networks_; }
  // For calls that an ADD may wait for: with the deadlines of those, and counted here.
  kube::Client& asking() { return asking_; }
  // An Event at this node.
  void report_at_node(std::string reason, std::string note);
  // Reads the caches of an earlier agent; before start().
  void restore();
  void start(Engine& engine);
  // Until pods and networks are known, so that the first ADD asks for nothing; no longer than `timeout`.
  void wait_known(std::chrono::milliseconds timeout) const;
  // Ends all waits for the API server, and no later call waits.
  void hurry() { asking_ends_.request_stop(); }
  void stop();

  // A request that failed: an Event at the pod, where its owner can do something about it.
  void failed(const cni::Request& request, const Error& error);

  std::vector<std::string> not_ready() const;
  std::vector<Sample> samples() const;
  doc::Value report() const;

 private:
  void keep(Engine& engine, const std::stop_token& stop);
  void report_trouble();
  void report_change(const std::string& about, const std::optional<Error>& error, std::string& last);

  Dependencies deps_;
  const Settings settings_;
  std::stop_source asking_ends_;
  kube::Client asking_;
  KeptCache pods_;
  KeptCache networks_;
  AskOnce asks_;
  StatusWriter statuses_;
  ClusterSource source_;
  kube::EventRecorder recorder_;
  std::string reported_of_pods_;  // of the keeper's thread, as the next two
  std::string reported_of_networks_;
  std::string reported_of_statuses_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace railbed::agent
