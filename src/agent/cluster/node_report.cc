// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_report.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"

namespace railbed::agent {
namespace {

using PolicyState = api::NodeStatePolicy::State;
using OutcomeState = graph::PolicyOutcome::State;

constexpr size_t kLongestError = 4096;  // bytes of lastSyncError, which kubectl shows in a column

std::string name_of(const std::string& policy) {
  return policy.substr(policy.find('/') + 1);
}

// The policies of the plan, each with the worst that happened to it.
class Policies {
 public:
  explicit Policies(const plan::NodePlan& plan) {
    for (const graph::PolicyOutcome& outcome : plan.policies) {
      const bool whole = outcome.state == OutcomeState::kApplied;
      reported_.push_back(
          {name_of(outcome.policy), whole ? PolicyState::kApplied : PolicyState::kFailed, whole ? "" : outcome.detail});
    }
  }
  void worse(const std::string& policy, PolicyState state, const std::string& message) {
    const auto found = std::ranges::find(reported_, name_of(policy), &api::NodeStatePolicy::name);
    if (policy.empty() || found == reported_.end()) return;
    if (found->state == PolicyState::kApplied) found->message.clear();
    found->state = std::max(found->state, state);
    found->message += (found->message.empty() ? "" : "; ") + message;
  }
  std::vector<api::NodeStatePolicy> take() && { return std::move(reported_); }

 private:
  std::vector<api::NodeStatePolicy> reported_;
};

void keep_netdev(api::FoundNic& nic, const api::FoundNic& reported) {
  nic.name = reported.name;
  nic.alt_names = reported.alt_names;
  nic.mac = reported.mac;
  nic.mtu = reported.mtu;
  nic.link_speed = reported.link_speed;
  nic.link_admin_state = reported.link_admin_state;
}

}  // namespace

std::string failure_text(const apply::StepFailure& failure) {
  std::string text = failure.error.story();
  if (!failure.remains.empty()) text += "; " + failure.remains;
  return text;
}

api::SriovNetworkNodeState status_of(NodeReport report) {
  api::SriovNetworkNodeState out;
  out.nics = std::move(report.nics);
  out.conditions = std::move(report.conditions);
  out.found_rdma_mode = std::move(report.rdma_mode);
  if (report.phase == SyncPhase::kCarryingOut) {
    out.sync_status = "InProgress";
    return out;
  }
  out.observed_generation = report.generation;
  Policies policies(report.plan);
  std::vector<std::string> errors = std::move(report.problems);
  for (const apply::StepFailure& failure : report.failures) {
    errors.push_back(failure_text(failure));
    policies.worse(failure.policy, PolicyState::kFailed, errors.back());
  }
  for (const graph::PolicyOutcome& outcome : report.plan.policies)
    if (outcome.state != OutcomeState::kApplied)
      errors.push_back(fmt::format("policy {}: {}", name_of(outcome.policy), outcome.detail));
  const bool failed = !errors.empty();
  std::ranges::move(report.waits, std::back_inserter(errors));
  for (const plan::HeldBack& held : report.plan.held_back) {
    errors.push_back(held.to_string());
    policies.worse(held.policy, PolicyState::kHeld, held.to_string());
  }
  out.policies = std::move(policies).take();
  const bool done = errors.empty() && !report.plan.changes();
  out.sync_status = failed ? "Failed" : done ? "Succeeded" : "InProgress";
  out.last_sync_error = joined_up_to(kLongestError, errors);
  return out;
}

std::string joined_up_to(size_t bytes, const std::vector<std::string>& texts) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (out.size() + texts[i].size() > bytes) return out + fmt::format(" (and {} more)", texts.size() - i);
    out += (out.empty() ? "" : "; ") + texts[i];
  }
  return out;
}

std::vector<api::FoundNic> steady_nics(std::vector<api::FoundNic> found, const std::vector<api::FoundNic>& reported,
                                       const std::set<PciAddress>& held) {
  for (api::FoundNic& nic : found) {
    const auto before = std::ranges::find(reported, nic.address, &api::FoundNic::address);
    if (before == reported.end()) continue;
    if (held.contains(nic.address) && nic.name.empty()) keep_netdev(nic, *before);
    for (api::FoundVf& vf : nic.vfs) {
      if (!held.contains(vf.address)) continue;
      const auto was = std::ranges::find(before->vfs, vf.address, &api::FoundVf::address);
      if (was != before->vfs.end() && was->index == vf.index) vf = *was;
    }
  }
  return found;
}

}  // namespace railbed::agent
