// SPDX-License-Identifier: Apache-2.0
#include "controller/upstream.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kube/pod.h"

namespace railbed::controller {

using kube::Change;

namespace {

bool is_running(const kube::ObjectPtr& pod) {
  return pod != nullptr && !kube::has_ended(*pod);
}

}  // namespace

std::string node_of_pod(const kube::ObjectPtr& pod) {
  return pod != nullptr ? kube::node_of_pod(*pod) : "";
}

Upstream::Upstream(Manager& manager, std::vector<std::string> listed, kube::milliseconds quiet,
                   kube::milliseconds look_period)
    : manager_(manager), listed_(std::move(listed)), quiet_(quiet), look_period_(look_period) {}

void Upstream::watch() {
  manager_.cluster().observe(Known::kUpstreamOperators, [this](const Change& change) { take_operator(change); });
  manager_.cluster().observe(Known::kUpstreamDaemons, [this](const Change& change) { take_daemon(change); });
}

void Upstream::add_all() {
  manager_.later(name(), "");
}

void Upstream::take_operator(const Change& change) {
  {
    const std::lock_guard lock(mutex_);
    if (is_running(change.after))
      operators_.insert(change.key);
    else
      operators_.erase(change.key);
    seen_[change.key.ns] = manager_.clock().now();
  }
  add_all();
}

void Upstream::take_daemon(const Change& change) {
  const std::lock_guard lock(mutex_);
  if (const std::string before = node_of_pod(change.before); !before.empty()) {
    std::set<kube::ObjectKey>& there = daemons_[before];
    there.erase(change.key);
    if (there.empty()) daemons_.erase(before);
  }
  if (const std::string after = node_of_pod(change.after); !after.empty() && is_running(change.after))
    daemons_[after].insert(change.key);
}

bool Upstream::runs() const {
  const std::lock_guard lock(mutex_);
  if (!operators_.empty()) return true;
  const kube::Instant now = manager_.clock().now();
  return std::ranges::any_of(seen_, [&](const auto& one) { return now - one.second < quiet_; });
}

PolicyNamespaces Upstream::namespaces() const {
  std::set<std::string> running;
  {
    const std::lock_guard lock(mutex_);
    const kube::Instant now = manager_.clock().now();
    for (const kube::ObjectKey& pod : operators_) running.insert(pod.ns);
    for (const auto& [ns, seen] : seen_)
      if (now - seen < quiet_) running.insert(ns);
  }
  return policy_namespaces(manager_.cluster().ns(), listed_, running);
}

bool Upstream::has_daemon(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return daemons_.contains(node);
}

bool Upstream::reconcile(const std::string& /*key*/, std::stop_token /*stop*/) {
  manager_.later(name(), "", look_period_);
  const bool now = runs();
  const PolicyNamespaces namespaces_now = namespaces();
  bool turned = false;
  std::optional<PolicyNamespaces> namespaces_before;
  {
    const std::lock_guard lock(mutex_);
    turned = std::exchange(reported_, now) != now;
    namespaces_before = std::exchange(reported_namespaces_, namespaces_now);
  }
  const bool moved = namespaces_before && *namespaces_before != namespaces_now;
  if (moved) report_namespaces(*namespaces_before, namespaces_now);
  if (turned) report_running(now);
  if (turned || moved) manager_.add_everything();
  return true;
}

void Upstream::report_namespaces(const PolicyNamespaces& before, const PolicyNamespaces& now) {
  for (const std::string& ns : now.taken)
    if (!before.taken.contains(ns))
      manager_.report_of_namespace(
          "NamespaceTaken", fmt::format("an SR-IOV operator runs in namespace {} now: railbed no longer serves its "
                                        "policies and networks; nodes keep the VFs that they have of them",
                                        ns));
  for (const std::string& ns : before.taken)
    if (!now.taken.contains(ns))
      manager_.report_of_namespace("NamespaceServed",
                                   fmt::format("no SR-IOV operator runs in namespace {} any more: railbed serves its "
                                               "policies and networks",
                                               ns));
}

void Upstream::report_running(bool now) {
  manager_.report_of_namespace(now ? "SriovOperatorRuns" : "SriovOperatorGone",
                               now ? "the SR-IOV operator runs in this cluster: railbed writes only for nodes labelled "
                                     "railbed.dev/managed=true"
                                   : "the SR-IOV operator no longer runs");
}

}  // namespace railbed::controller
