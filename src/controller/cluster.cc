// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster.h"

#include <array>

#include "api/cluster_labels.h"
#include "base/format.h"
#include "controller/networks.h"
#include "controller/node_states.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;
using kube::Change;

namespace {

bool runs(const kube::ObjectPtr& pod) {
  if (pod == nullptr) return false;
  const Value* status = doc::object_in(*pod, "status");
  const std::string phase = status != nullptr ? doc::text_in(*status, "phase") : "";
  return phase != "Succeeded" && phase != "Failed";
}

std::string node_of(const kube::ObjectPtr& pod) {
  const Value* spec = pod != nullptr ? doc::object_in(*pod, "spec") : nullptr;
  return spec != nullptr ? doc::text_in(*spec, "nodeName") : "";
}

kube::InformerSettings all_of(const kube::Resource& resource, kube::Trim trim, std::string ns = "",
                              std::string labels = "") {
  return {.resource = resource,
          .selection = {.ns = std::move(ns), .labels = std::move(labels), .fields = {}},
          .trim = std::move(trim)};
}

}  // namespace

Cluster::Cluster(kube::Client& client, const std::string& ns, ClusterObservers observers,
                 kube::milliseconds upstream_quiet)
    : client_(client),
      ns_(ns),
      observers_(std::move(observers)),
      upstream_quiet_(upstream_quiet),
      policies_(client, all_of(kube::kPolicies, kube::trim_metadata, ns), observers_.policies),
      node_states_(client, all_of(kube::kNodeStates, node_state_trim(), ns), observers_.node_states),
      nodes_(client, all_of(kube::kNodes, node_trim()), observers_.nodes),
      networks_(client, all_of(kube::kSriovNetworks, kube::trim_metadata), observers_.networks),
      ib_networks_(client, all_of(kube::kSriovIbNetworks, kube::trim_metadata), observers_.networks),
      definitions_(client, all_of(kube::kNetworkDefinitions, definition_trim()), observers_.definitions),
      namespaces_(client, all_of(kube::kNamespaces, kube::keep_fields({})), observers_.namespaces),
      upstream_operators_(client,
                          all_of(kube::kPods, kube::keep_fields({"spec.nodeName", "status.phase"}), "",
                                 std::string(api::kUpstreamOperatorPods)),
                          [this](const Change& change) { take_upstream_operator(change); }),
      upstream_daemons_(client,
                        all_of(kube::kPods, kube::keep_fields({"spec.nodeName", "status.phase"}), "",
                               std::string(api::kUpstreamDaemonPods)),
                        [this](const Change& change) { take_upstream_daemon(change); }) {}

void Cluster::start() {
  for (kube::Informer* informer : {&policies_, &node_states_, &nodes_, &networks_, &ib_networks_, &definitions_,
                                   &namespaces_, &upstream_operators_, &upstream_daemons_})
    threads_.emplace_back([informer](std::stop_token stop) { informer->run(stop); });
}

void Cluster::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

std::vector<std::pair<std::string, kube::Standing>> Cluster::standings() const {
  return {{"SriovNetworkNodePolicy", policies_.standing()},
          {"SriovNetworkNodeState", node_states_.standing()},
          {"Node", nodes_.standing()},
          {"SriovNetwork", networks_.standing()},
          {"SriovIBNetwork", ib_networks_.standing()},
          {"NetworkAttachmentDefinition", definitions_.standing()},
          {"Namespace", namespaces_.standing()},
          {"Pod of the SR-IOV operator", upstream_operators_.standing()},
          {"Pod of the config daemon", upstream_daemons_.standing()}};
}

std::string Cluster::missing() const {
  std::string out;
  for (const auto& [kind, standing] : standings()) {
    const bool refused =
        standing.error && (standing.error->code == Code::kNotFound || standing.error->code == Code::kDenied);
    if (standing.synced && !refused) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", kind,
                       standing.error ? standing.error->story() : "not listed yet");
  }
  return out;
}

bool Cluster::synced() const {
  for (const auto& [kind, standing] : standings())
    if (!standing.synced) return false;
  return true;
}

void Cluster::take_upstream_operator(const Change& change) {
  {
    const std::lock_guard lock(mutex_);
    if (runs(change.after))
      operators_.insert(change.key);
    else
      operators_.erase(change.key);
    operator_seen_ = client_.clock().now();
  }
  if (observers_.upstream) observers_.upstream(change);
}

void Cluster::take_upstream_daemon(const Change& change) {
  {
    const std::lock_guard lock(mutex_);
    if (const std::string before = node_of(change.before); !before.empty()) {
      std::set<kube::ObjectKey>& there = daemons_[before];
      there.erase(change.key);
      if (there.empty()) daemons_.erase(before);
    }
    if (const std::string after = node_of(change.after); !after.empty() && runs(change.after))
      daemons_[after].insert(change.key);
  }
  if (observers_.upstream) observers_.upstream(change);
}

bool Cluster::upstream_operator() const {
  const std::lock_guard lock(mutex_);
  if (!operators_.empty()) return true;
  return operator_seen_ != kube::Instant{} && client_.clock().now() - operator_seen_ < upstream_quiet_;
}

bool Cluster::upstream_daemon(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return daemons_.contains(node);
}

}  // namespace railbed::controller
