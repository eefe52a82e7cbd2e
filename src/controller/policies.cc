// SPDX-License-Identifier: Apache-2.0
#include "controller/policies.h"

namespace railbed::controller {

Policies::Policies(Cluster& cluster, const Upstream& upstream, std::string resource_prefix)
    : cluster_(cluster), upstream_(upstream), resource_prefix_(std::move(resource_prefix)) {}

void Policies::changed() {
  const std::lock_guard lock(mutex_);
  ++version_;
}

bool Policies::were_none() const {
  const std::lock_guard lock(mutex_);
  return set_ != nullptr && set_->empty();
}

std::shared_ptr<const PolicySet> Policies::set() {
  uint64_t version = 0;
  PolicyNamespaces namespaces = upstream_.namespaces();
  {
    const std::lock_guard lock(mutex_);
    if (set_ != nullptr && set_->version() == version_ && set_->namespaces() == namespaces) return set_;
    version = version_;
  }
  // What has changed since `version` was read is in it already and only makes it be read once more.
  auto read = std::make_shared<const PolicySet>(cluster_.objects(Known::kPolicies),
                                                graph::Options{.resource_prefix = resource_prefix_}, version,
                                                std::move(namespaces));
  const std::lock_guard lock(mutex_);
  if (set_ == nullptr || set_->version() <= version) set_ = read;
  return set_;
}

}  // namespace railbed::controller
