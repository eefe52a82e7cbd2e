// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster.h"

#include <array>

#include "api/cluster_labels.h"
#include "base/format.h"
#include "controller/networks.h"
#include "controller/node_states.h"

namespace railbed::controller {
namespace {

using kube::Where;

struct KnownKind {
  Known known;
  kube::Resource resource;
  kube::Trim trim;
  Where where = Where::kEverywhere;
  std::string_view labels = {};
  std::string_view name = resource.kind;  // for people
};

std::array<KnownKind, kKnownKinds> known_kinds() {
  const kube::Trim pod = kube::keep_fields({"spec.nodeName", "status.phase"});
  return {{
      {Known::kPolicies, kube::kPolicies, kube::trim_metadata, Where::kOwnNamespace},
      {Known::kNodeStates, kube::kNodeStates, node_state_trim(), Where::kOwnNamespace},
      {Known::kNodes, kube::kNodes, node_trim()},
      {Known::kNetworks, kube::kSriovNetworks, kube::trim_metadata},
      {Known::kIbNetworks, kube::kSriovIbNetworks, kube::trim_metadata},
      {Known::kDefinitions, kube::kNetworkDefinitions, definition_trim()},
      {Known::kNamespaces, kube::kNamespaces, kube::keep_fields({})},
      {Known::kUpstreamOperators, kube::kPods, pod, Where::kEverywhere, api::kUpstreamOperatorPods,
       "Pod of the SR-IOV operator"},
      {Known::kUpstreamDaemons, kube::kPods, pod, Where::kEverywhere, api::kUpstreamDaemonPods,
       "Pod of the config daemon"},
  }};
}

}  // namespace

Cluster::Cache::Cache(std::string the_name, kube::Client& client, kube::InformerSettings settings)
    : name(std::move(the_name)), informer(client, std::move(settings), [this](const kube::Change& change) {
        for (const kube::Informer::Observer& observer : observers) observer(change);
      }) {}

Cluster::Cluster(kube::Client& client, std::string ns) : ns_(std::move(ns)) {
  for (KnownKind& kind : known_kinds())
    caches_.emplace_back(std::string(kind.name), client,
                         kube::InformerSettings{.resource = kind.resource,
                                                .selection = {.ns = kind.where == Where::kOwnNamespace ? ns_ : "",
                                                              .labels = std::string(kind.labels),
                                                              .fields = {}},
                                                .trim = std::move(kind.trim)});
}

std::vector<kube::Right> Cluster::rights() {
  std::vector<kube::Right> out;
  for (const KnownKind& kind : known_kinds())
    out.push_back({.kind = kind.resource, .verbs = kube::Verb::kList | kube::Verb::kWatch, .where = kind.where});
  return out;
}

void Cluster::observe(Known kind, kube::Informer::Observer observer) {
  caches_[static_cast<size_t>(kind)].observers.push_back(std::move(observer));
}

void Cluster::start() {
  for (Cache& one : caches_) threads_.emplace_back([&one](std::stop_token stop) { one.informer.run(std::move(stop)); });
}

void Cluster::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

std::vector<std::pair<std::string, kube::Standing>> Cluster::standings() const {
  std::vector<std::pair<std::string, kube::Standing>> out;
  for (const Cache& one : caches_) out.emplace_back(one.name, one.informer.standing());
  return out;
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

kube::Objects Cluster::objects(Known kind) const {
  return cache(kind).informer.objects();
}

kube::ObjectPtr Cluster::find(Known kind, const kube::ObjectKey& key) const {
  return cache(kind).informer.find(key);
}

}  // namespace railbed::controller
