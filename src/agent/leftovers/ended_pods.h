// SPDX-License-Identifier: Apache-2.0
// Pods whose namespace has ended and whose DEL has not arrived, or arrived before the end was known.
//
// Why: CRI-O, and containerd after a restart, send no DEL for a pod whose namespace no longer exists, so its VF and its
// addresses would stay allocated until someone checks. The kernel reports that a namespace has ended
// (attach/namespaces.h); then no process uses them. A pod whose DEL arrived is released immediately, one without it
// after kPatience, since the runtime's own DEL may be in flight. The effects of executed plugins are left to that DEL
// for as long as the runtime knows the container.
//
// Pods of `railbed up` have no runtime: `up` and `down` manage them, except for orphans.
// Threading: one thread, not inside a Turn.
// Failure: per pod, reported as a line; it is retried.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/addresses/backends.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class Meta;  // pod/meta.h

struct EndedPod {
  std::string key;  // state::Sandbox::key()
  bool del_came = false;
  std::string failure;  // empty: its devices and addresses are free again
};

class EndedPods {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  // All outlive this.
  EndedPods(Backends backends, Meta& meta, os::Disk& disk) : backends_(backends), meta_(meta), disk_(disk) {}

  // For every few seconds: what was given back, or could not be.
  Result<std::vector<EndedPod>> settle();

 private:
  struct Sandbox {
    bool del_came = false;
    bool has_programs = false;
    bool has_interfaces = false;
    bool may_live = false;
  };
  Result<std::map<std::string, Sandbox>> ended();
  bool is_still_held(const std::string& key);
  std::optional<EndedPod> give_back(const std::string& key, const Sandbox& sandbox);

  Backends backends_;
  Meta& meta_;
  os::Disk& disk_;
  std::map<std::string, os::Deadline> not_before_;  // of those that have ended
  std::map<std::string, Sandbox> failed_;           // that could not be given back
};

}  // namespace railbed::agent
