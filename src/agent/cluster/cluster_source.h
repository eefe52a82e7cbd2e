// SPDX-License-Identifier: Apache-2.0
// The meta plugin's source in a cluster: pods of this node and network definitions from caches of the API server.
//
// An ADD reads the caches without a query. Objects that are not cached yet are fetched once (ask_once.h): a pod of that
// name and uid, a definition that a pod names. If the API server is unavailable, cached objects continue to work, and
// others fail with code 11 and the reason; an object is reported as missing only after the API server confirmed it. A
// definition whose name may also be a file's of this node (the default network) is not fetched if the cache has been
// complete. Statuses: recorded in the state in the Turn that produced them, passed to a StatusWriter, and looked up
// after a restart.
// Threading: as sources.h.
// Failure: as sources.h, and Busy if the API server cannot be queried.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "agent/cluster/ask_once.h"
#include "agent/cluster/kept_cache.h"
#include "agent/cluster/status_writer.h"
#include "agent/engine.h"
#include "agent/pod/sources.h"
#include "state/store.h"

namespace railbed::agent {

class ClusterSource : public PodSource {
 public:
  // Their name in deploy/sharing/ib-kubernetes.yaml.
  static constexpr std::string_view kIbKubernetesPolicy = "railbed-ib-kubernetes";
  // For what it asks once.
  static constexpr kube::Right kRights[] = {
      {.kind = kube::kPods, .verbs = kube::Verb::kGet},
      {.kind = kube::kNetworkDefinitions, .verbs = kube::Verb::kGet},
      {.kind = kube::kNamespaces, .verbs = kube::Verb::kGet, .why = "their labels, with --tenant-definitions restrict"},
      {.kind = kube::kAdmissionPolicies,
       .verbs = kube::Verb::kGet,
       .name = kIbKubernetesPolicy,
       .why = "whether ib-kubernetes' word is kept for it (deploy/sharing/ib-kubernetes.yaml)"},
      {.kind = kube::kAdmissionPolicyBindings, .verbs = kube::Verb::kGet, .name = kIbKubernetesPolicy}};

  struct Settings {
    std::string node;
    bool soft_rdma = false;
    // Definitions take what is the node's only in namespaces with the label kHostDevicesLabel.
    bool restrict_definitions = false;
  };
  // All outlive this; `store` is used in turns only.
  ClusterSource(KeptCache& pods, KeptCache& networks, AskOnce& asks, StatusWriter& writer, state::Store& store,
                Settings settings);

  Result<PodInfo> pod(const std::string& ns, const std::string& name, const std::string& uid) override;
  Result<NetworkInfo> network(const std::string& ns, const std::string& name) override;
  Result<NetworkInfo> network_if_known(const std::string& ns, const std::string& name) override;
  // The namespace's label is asked for each time. Where the API server is away, what it said last goes on.
  Result<bool> may_use_node(const std::string& ns) override;
  // Whether the policy of deploy/sharing/ib-kubernetes.yaml is in force; where the API server is away, as it was.
  Result<bool> reserves_ib_kubernetes() override;
  bool of_cluster() const override { return true; }
  bool soft_rdma() override { return settings_.soft_rdma; }
  Result<std::string> published_status(const std::string& ns, const std::string& name, const std::string& uid) override;
  // Nothing is written for a pod that has no network but the default one.
  Result<void> publish_status(const PodInfo& pod, const std::string& sandbox, const doc::Value& status) override;

  // The uid that the API server has for the pod; empty where it is not known here. For Events.
  std::string api_uid(const std::string& ns, const std::string& name, const std::string& uid) const;

  // Once after a start, as soon as the pods are those of the API server: hands over what an earlier agent did not come
  // to write. How many. Not in a turn.
  Result<size_t> resume_statuses(Engine& engine);

 private:
  KeptCache& pods_;
  KeptCache& networks_;
  AskOnce& asks_;
  StatusWriter& writer_;
  state::Store& store_;
  const Settings settings_;
  std::mutex mutex_;
  // As the API server said last; under mutex_.
  std::map<std::string, bool> may_use_node_;  // by namespace
  std::optional<bool> reserves_ib_kubernetes_;
};

}  // namespace railbed::agent
