// SPDX-License-Identifier: Apache-2.0
#include "controller/policies.h"

namespace railbed::controller {

Policies::Policies(Cluster& cluster, std::string resource_prefix)
    : cluster_(cluster), resource_prefix_(std::move(resource_prefix)) {}

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
  {
    const std::lock_guard lock(mutex_);
    if (set_ != nullptr && set_->version() == version_) return set_;
    version = version_;
  }
  // What has changed since `version` was read is in it already and only makes it be read once more.
  auto read = std::make_shared<const PolicySet>(cluster_.objects(Known::kPolicies),
                                                graph::Options{.resource_prefix = resource_prefix_}, version);
  const std::lock_guard lock(mutex_);
  if (set_ == nullptr || set_->version() < version) set_ = read;
  return set_;
}

}  // namespace railbed::controller
