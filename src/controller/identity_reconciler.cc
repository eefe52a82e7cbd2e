// SPDX-License-Identifier: Apache-2.0
#include "controller/identity_reconciler.h"

#include <algorithm>

#include "base/format.h"

namespace railbed::controller {
namespace {

constexpr size_t kMostEvents = 16;  // of one identity

}  // namespace

std::span<const kube::Right> IdentityReconciler::rights() const {
  static constexpr kube::Right kRights[] = {{.kind = kube::kPods, .verbs = kube::Verb::kList}};
  return kRights;
}

bool IdentityReconciler::reconcile(const std::string& /*key*/, std::stop_token stop) {
  Identities identities;
  const auto seen = manager_.reader().visit(
      kube::kPods, {}, identity_trim(),
      [&](const doc::Value& pod) {
        identities.add(pod);
        return kube::Visit::kGoOn;
      },
      std::move(stop));
  if (!seen) return false;
  std::vector<SharedIdentity> shared = identities.shared();
  std::vector<SharedIdentity> fresh;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::set_difference(shared, shared_, std::back_inserter(fresh));
    shared_ = std::move(shared);
  }
  for (const SharedIdentity& one : fresh) report(one);
  manager_.later(name(), "", period_);
  return true;
}

// The log names all of them; an Event at a pod, which its author reads, names no pod of others.
void IdentityReconciler::report(const SharedIdentity& one) {
  manager_.report(Importance::kWarning, fmt::format("pods of two nodes use the same {}", to_text(one)));
  const std::string note =
      fmt::format("{} is also that of a pod on another node; the log of railbed's operator names it", one.what);
  for (size_t i = 0; i < std::min(one.holders.size(), kMostEvents); ++i)
    manager_.event(kube::EventType::kWarning, "IdentityShared", note,
                   {"v1", "Pod", one.holders[i].pod, one.holders[i].uid});
}

size_t IdentityReconciler::shared() const {
  const std::lock_guard lock(mutex_);
  return shared_.size();
}

}  // namespace railbed::controller
