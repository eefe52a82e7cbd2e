// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_settings.h"

#include <algorithm>

#include "doc/fields.h"
#include "kube/object.h"

namespace railbed::controller {

namespace {

void read_pools(const kube::Objects& stored, const PolicyNamespaces& namespaces, Settings& out) {
  for (const auto& [key, object] : stored) {
    if (!namespaces.why_not(key.ns).empty()) continue;
    doc::Diagnostics found;
    if (auto pool = api::parse_pool_config(*object, found))
      out.pools.push_back(*std::move(pool));
    else
      out.unreadable_pools.push_back({key.to_string(), doc::first_error(found).error().message});
  }
}

std::vector<PoolNode> pool_nodes(const kube::Objects& nodes) {
  std::vector<PoolNode> out;
  for (const auto& [key, node] : nodes) out.push_back({key.name, kube::labels_of(*node)});
  return out;
}

}  // namespace

const api::SriovNetworkPoolConfig* Settings::pool(const std::string& key) const {
  const auto found = std::ranges::find_if(pools, [&](const auto& one) { return one.key() == key; });
  return found != pools.end() ? &*found : nullptr;
}

std::string Settings::rdma_mode_of(const std::string& node) const {
  const auto found = assignments.pool_of.find(node);
  const api::SriovNetworkPoolConfig* of = found != assignments.pool_of.end() ? pool(found->second) : nullptr;
  return of != nullptr ? of->rdma_mode : "";
}

void ClusterSettings::changed() {
  const std::lock_guard lock(mutex_);
  ++version_;
}

ClusterSettings::Around ClusterSettings::around() const {
  return {.version = version_,
          .namespaces = upstream_.namespaces(),
          .upstream_operator = upstream_.runs(),
          .configs = cluster_.status(OptionalKind::kOperatorConfigs).availability,
          .pools = cluster_.status(OptionalKind::kPoolConfigs).availability};
}

std::shared_ptr<const Settings> ClusterSettings::now() {
  // One reads at a time: what is read next begins with what was read last.
  const std::lock_guard lock(mutex_);
  Around now = around();
  if (last_ != nullptr && last_around_ == now) return last_;
  const Settings none;
  const Settings& before = last_ != nullptr ? *last_ : none;
  auto read = std::make_shared<Settings>();
  const std::optional<kube::Objects> configs = cluster_.objects(OptionalKind::kOperatorConfigs);
  const std::optional<kube::Objects> pools = cluster_.objects(OptionalKind::kPoolConfigs);
  read->config = choose_config({.stored = configs ? &*configs : nullptr,
                                .own_namespace = cluster_.ns(),
                                .namespaces = now.namespaces,
                                .upstream_operator = now.upstream_operator,
                                .before = before.config});
  if (pools) {
    read_pools(*pools, now.namespaces, *read);
  } else {
    read->pools = before.pools;
    read->unreadable_pools = before.unreadable_pools;
  }
  read->assignments = pool_assignments(pool_nodes(cluster_.objects(Known::kNodes)), read->pools);
  read->namespaces = now.namespaces;
  last_ = std::move(read);
  last_around_ = std::move(now);
  return last_;
}

}  // namespace railbed::controller
