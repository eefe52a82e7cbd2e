// SPDX-License-Identifier: Apache-2.0
#include "controller/upstream.h"

#include <utility>

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

Upstream::Upstream(Manager& manager, kube::milliseconds quiet, kube::milliseconds look_period)
    : manager_(manager), quiet_(quiet), look_period_(look_period) {}

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
    seen_ = manager_.clock().now();
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
  return seen_ != kube::Instant{} && manager_.clock().now() - seen_ < quiet_;
}

bool Upstream::has_daemon(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return daemons_.contains(node);
}

bool Upstream::reconcile(const std::string& /*key*/, std::stop_token /*stop*/) {
  manager_.later(name(), "", look_period_);
  const bool now = runs();
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(reported_, now) == now) return true;
  }
  manager_.tell_of_namespace(now ? "SriovOperatorRuns" : "SriovOperatorGone",
                             now ? "the SR-IOV operator runs in this cluster: railbed writes only for nodes labelled "
                                   "railbed.dev/managed=true"
                                 : "the SR-IOV operator no longer runs");
  manager_.add_everything();
  return true;
}

}  // namespace railbed::controller
