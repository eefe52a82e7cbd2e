// SPDX-License-Identifier: Apache-2.0
// Reports MACs and GUIDs that pods of two nodes have (identities.h): it changes nothing.
//
// Why a list from time to time: what is looked for lasts as long as a pod, so no cache of all pods is kept.
// Threading: as Reconciler. Failure: the list is tried again.
#pragma once

#include <mutex>
#include <vector>

#include "controller/identities.h"
#include "controller/manager.h"

namespace railbed::controller {

class IdentityReconciler : public Reconciler {
 public:
  IdentityReconciler(Manager& manager, kube::milliseconds period) : manager_(manager), period_(period) {}

  size_t shared() const;

  std::string_view name() const override { return "identities"; }
  std::span<const kube::Right> rights() const override;
  void watch() override {}
  bool reconcile(const std::string& key, std::stop_token stop) override;
  void add_all() override { manager_.later(name(), ""); }

 private:
  void report(const SharedIdentity& one);

  Manager& manager_;
  const kube::milliseconds period_;
  mutable std::mutex mutex_;
  std::vector<SharedIdentity> shared_;
};

}  // namespace railbed::controller
