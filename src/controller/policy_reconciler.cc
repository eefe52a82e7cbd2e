// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_reconciler.h"

#include <algorithm>

#include "controller/policy_status.h"
#include "doc/members.h"

namespace railbed::controller {

using doc::Value;
using kube::Change;

namespace {

// Whether the status is railbed's and says anything but that the policy does not count now.
bool says_otherwise(const Value& status, const std::string& ignored) {
  return status.find("matched") != nullptr && first_condition(status).text() != "Ignored: " + ignored;
}

}  // namespace

PolicyReconciler::PolicyReconciler(Manager& manager, const Upstream& upstream, Policies& policies,
                                   const Outcomes& outcomes, kube::milliseconds pause)
    : manager_(manager),
      upstream_(upstream),
      policies_(policies),
      outcomes_(outcomes),
      pause_(pause),
      statuses_(manager) {}

std::span<const kube::Right> PolicyReconciler::rights() const {
  static constexpr kube::Right kRights[] = {{.kind = kube::kPolicies,
                                             .verbs = kube::Verb::kApply,
                                             .part = kube::Part::kStatus,
                                             .why = "also Ignored, of those that do not count"}};
  return kRights;
}

void PolicyReconciler::watch() {
  manager_.cluster().observe(Known::kPolicies, [this](const Change& change) {
    if (change.type == Change::Type::kChanged && asks_the_same(*change.before, *change.after)) return;
    manager_.later(kName, change.key.to_string(), pause_);
  });
}

void PolicyReconciler::add_all() {
  for (const auto& [key, policy] : manager_.cluster().objects(Known::kPolicies))
    manager_.later(kName, key.to_string(), pause_);
}

bool PolicyReconciler::reconcile(const std::string& key, std::stop_token stop) {
  const Cluster& cluster = manager_.cluster();
  const size_t slash = key.find('/');
  const kube::ObjectKey at{key.substr(0, slash), key.substr(slash + 1)};
  const kube::ObjectPtr policy = cluster.find(Known::kPolicies, at);
  if (policy == nullptr) return true;
  const PolicyNamespaces namespaces = upstream_.namespaces();
  const std::string ignored = namespaces.why_not(at.ns);
  const Value* stored = doc::object_in(*policy, "status");
  // Beside the SR-IOV operator railbed would be a second writer. But where that one has taken a namespace back, what
  // railbed said of a policy there no longer holds, and nothing else would change it.
  const bool taken = namespaces.taken.contains(at.ns);
  if (taken ? stored == nullptr || !says_otherwise(*stored, ignored) : upstream_.runs()) return true;
  if (!taken && !outcomes_.are_complete()) {
    manager_.later(kName, key, pause_);
    return true;
  }
  const std::shared_ptr<const PolicySet> set = policies_.set();
  const Value* meta = doc::object_in(*policy, "metadata");
  const std::string now = kube::second_time(manager_.clock().wall());
  const Value before = stored != nullptr ? *stored : Value();
  const int generation = doc::number_in(*meta, "generation");
  Value status = policy_status({.generation = generation,
                                .status = before,
                                .now = now,
                                .nodes = ignored.empty() ? outcomes_.of(key) : std::vector<NodeOutcome>()});
  if (!ignored.empty())
    status.set("conditions", Value::array())
        .push(ready_condition(before, generation, now, {"False", "Ignored", ignored}));
  const auto unreadable = std::ranges::find(set->unreadable(), key, &PolicySet::Unreadable::key);
  if (unreadable != set->unreadable().end())
    status.set("conditions", Value::array())
        .push(ready_condition(before, generation, now, {"False", "Invalid", unreadable->why}));
  if (status == before) return true;
  FirstCondition ready = first_condition(status);
  std::string note = ready.text();
  return statuses_.apply({.kind = kube::kPolicies,
                          .what = "status of policy " + key,
                          .of = policy,
                          .status = std::move(status),
                          .type = ready.status == "True" ? kube::EventType::kNormal : kube::EventType::kWarning,
                          .reason = std::move(ready.reason),
                          .note = std::move(note)},
                         std::move(stop));
}

}  // namespace railbed::controller
