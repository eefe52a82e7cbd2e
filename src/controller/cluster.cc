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

template <typename Which>
struct ListedKind {
  Which which;
  kube::Resource resource;
  kube::Trim trim;
  Where where = Where::kEverywhere;
  std::string_view labels = {};
  std::string_view name = resource.kind;  // for people
};

std::array<ListedKind<Known>, kKnownKinds> known_kinds() {
  const kube::Trim pod = kube::keep_fields({"spec.nodeName", "status.phase"});
  return {{
      {Known::kPolicies, kube::kPolicies, kube::trim_metadata},  // also those that do not count: they get an Event
      {Known::kNodeStates, kube::kNodeStates, node_state_trim(), Where::kOwnNamespace},
      {Known::kNodes, kube::kNodes, node_trim()},
      {Known::kNamespaces, kube::kNamespaces, kube::keep_fields({})},
      {Known::kUpstreamOperators, kube::kPods, pod, Where::kEverywhere, api::kUpstreamOperatorPods,
       "Pod of the SR-IOV operator"},
      {Known::kUpstreamDaemons, kube::kPods, pod, Where::kEverywhere, api::kUpstreamDaemonPods,
       "Pod of the config daemon"},
  }};
}

std::array<ListedKind<OptionalKind>, kOptionalKinds> optional_kinds() {
  return {{
      {OptionalKind::kNetworks, kube::kSriovNetworks, kube::trim_metadata},
      {OptionalKind::kIbNetworks, kube::kSriovIbNetworks, kube::trim_metadata},
      {OptionalKind::kDefinitions, kube::kNetworkDefinitions, definition_trim()},
      {OptionalKind::kOperatorConfigs, kube::kOperatorConfigs, kube::trim_metadata},
      {OptionalKind::kPoolConfigs, kube::kPoolConfigs, kube::trim_metadata},
  }};
}

// The API server is there and does not list the kind.
bool is_refused(const kube::Informer::Health& health) {
  return health.error && (health.error->code == Code::kNotFound || health.error->code == Code::kDenied);
}

Availability availability_of(const kube::Informer::Health& health) {
  if (is_refused(health))
    return health.error->code == Code::kNotFound ? Availability::kAbsent : Availability::kForbidden;
  return health.synced ? Availability::kListed : Availability::kPending;
}

}  // namespace

Cluster::Cache::Cache(std::string the_name, kube::Client& client, kube::InformerSettings settings)
    : name(std::move(the_name)), informer(client, std::move(settings), [this](const kube::Change& change) {
        for (const kube::Informer::Observer& observer : observers) observer(change);
      }) {}

Cluster::Cluster(kube::Client& client, std::string ns) : ns_(std::move(ns)) {
  const auto add = [&](auto& kind) {
    caches_.emplace_back(std::string(kind.name), client,
                         kube::InformerSettings{.resource = kind.resource,
                                                .selection = {.ns = kind.where == Where::kOwnNamespace ? ns_ : "",
                                                              .labels = std::string(kind.labels),
                                                              .fields = {}},
                                                .trim = std::move(kind.trim)});
  };
  for (ListedKind<Known>& kind : known_kinds()) add(kind);
  for (ListedKind<OptionalKind>& kind : optional_kinds()) add(kind);
}

std::vector<kube::Right> Cluster::rights() {
  std::vector<kube::Right> out;
  const auto add = [&](const auto& kind) {
    out.push_back({.kind = kind.resource, .verbs = kube::Verb::kList | kube::Verb::kWatch, .where = kind.where});
  };
  for (const ListedKind<Known>& kind : known_kinds()) add(kind);
  for (const ListedKind<OptionalKind>& kind : optional_kinds()) add(kind);
  return out;
}

void Cluster::observe(Known kind, kube::Informer::Observer observer) {
  caches_[place(kind)].observers.push_back(std::move(observer));
}

void Cluster::observe(OptionalKind kind, kube::Informer::Observer observer) {
  caches_[place(kind)].observers.push_back(std::move(observer));
}

void Cluster::start() {
  for (Cache& one : caches_) threads_.emplace_back([&one](std::stop_token stop) { one.informer.run(std::move(stop)); });
}

void Cluster::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

std::vector<std::pair<std::string, kube::Informer::Health>> Cluster::healths() const {
  std::vector<std::pair<std::string, kube::Informer::Health>> out;
  for (const Cache& one : caches_) out.emplace_back(one.name, one.informer.health());
  return out;
}

std::string Cluster::missing() const {
  std::string out;
  for (size_t i = 0; i < kKnownKinds; ++i) {
    const kube::Informer::Health health = caches_[i].informer.health();
    if (health.synced && !is_refused(health)) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", caches_[i].name,
                       health.error ? health.error->story() : "not listed yet");
  }
  return out;
}

OptionalKindStatus Cluster::status(OptionalKind kind) const {
  const Cache& cache = caches_[place(kind)];
  const kube::Informer::Health health = cache.informer.health();
  return {.name = cache.name,
          .availability = availability_of(health),
          .why = is_refused(health) ? health.error->story() : ""};
}

kube::Objects Cluster::objects(Known kind) const {
  return caches_[place(kind)].informer.objects();
}

std::optional<kube::Objects> Cluster::objects(OptionalKind kind) const {
  const kube::Informer& informer = caches_[place(kind)].informer;
  const auto is_listed = [&] { return availability_of(informer.health()) == Availability::kListed; };
  if (!is_listed()) return std::nullopt;
  kube::Objects objects = informer.objects();
  if (!is_listed()) return std::nullopt;  // some may have gone with the kind
  return objects;
}

kube::ObjectPtr Cluster::find(Known kind, const kube::ObjectKey& key) const {
  return caches_[place(kind)].informer.find(key);
}

}  // namespace railbed::controller
