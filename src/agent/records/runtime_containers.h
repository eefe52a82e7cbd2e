// SPDX-License-Identifier: Apache-2.0
// Containers that a runtime or Multus attached on this machine and has not released, according to the files that they
// keep until DEL.
//
// Threading: any thread.
// Failure: none, a directory that does not exist has no containers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "os/ports/disk.h"

namespace railbed::agent {

// Where CNI's library keeps the results of ADD until DEL: for the runtime, and for Multus.
inline constexpr const char* kLibraryResults[] = {"/var/lib/cni/results", "/var/lib/cni/multus/results"};

class RuntimeContainers {
 public:
  static RuntimeContainers look(os::Disk& disk);
  bool knows(const std::string& container) const;

 private:
  std::set<std::string> multus_;
  std::vector<std::string> results_;  // "<network>-<container>-<interface>"; names may have '-', so it cannot be split
};

}  // namespace railbed::agent
