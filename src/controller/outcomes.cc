// SPDX-License-Identifier: Apache-2.0
#include "controller/outcomes.h"

#include <algorithm>

namespace railbed::controller {

std::vector<std::string> Outcomes::put(const std::string& node, std::vector<NodeOutcome> outcomes) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> changed;
  std::vector<std::string>& known = policies_of_[node];
  for (const std::string& policy : known) {
    if (std::ranges::any_of(outcomes, [&](const NodeOutcome& one) { return one.outcome.policy == policy; })) continue;
    changed.push_back(policy);
    ByNode& nodes = by_policy_[policy];
    nodes.erase(node);
    if (nodes.empty()) by_policy_.erase(policy);
  }
  known.clear();
  for (NodeOutcome& one : outcomes) {
    known.push_back(one.outcome.policy);
    NodeOutcome& slot = by_policy_[one.outcome.policy][node];
    if (slot == one) continue;
    changed.push_back(one.outcome.policy);
    slot = std::move(one);
  }
  if (known.empty()) policies_of_.erase(node);
  return changed;
}

std::vector<NodeOutcome> Outcomes::of(const std::string& policy) const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeOutcome> out;
  const auto found = by_policy_.find(policy);
  if (found == by_policy_.end()) return out;
  for (const auto& [node, one] : found->second) out.push_back(one);
  return out;
}

void Outcomes::expect(std::set<std::string> nodes) {
  const std::lock_guard lock(mutex_);
  undecided_ = std::move(nodes);
}

void Outcomes::decided(const std::string& node) {
  const std::lock_guard lock(mutex_);
  undecided_.erase(node);
}

bool Outcomes::are_complete() const {
  const std::lock_guard lock(mutex_);
  return undecided_.empty();
}

}  // namespace railbed::controller
