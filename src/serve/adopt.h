// SPDX-License-Identifier: Apache-2.0
// Addresses that original plugins gave before this machine was switched over, where their files do not say
// so.
//
// Why: host-local's files are here and are read as they are (host_local.h); whereabouts keeps its allocations
// in IPPool objects of the API server. Without them the agent would hand out addresses that running pods
// have. What is picked up becomes a lease, freed by the DEL of its pod and interface; it is picked up once
// per boot, so that an old file does not bring back what was freed since. Threading: a Turn's thread.
// Failure: Invalid with the place in the file; nothing is picked up then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ip.h"
#include "os/file_tree.h"
#include "serve/engine.h"

namespace railbed::serve {

struct ForeignAllocation {
  std::string pool;  // ipam::pool_of()
  IpAddress address;
  std::string pod;     // "namespace/name"
  std::string ifname;  // empty in pools of old versions
  friend bool operator==(const ForeignAllocation&, const ForeignAllocation&) = default;
};

class ForeignAllocations {
 public:
  virtual ~ForeignAllocations() = default;
  virtual Result<std::vector<ForeignAllocation>> all() = 0;
};

// IPPool objects of whereabouts in the *.yaml, *.yml and *.json files of a directory, single or as a list
// (`kubectl get ippools -A -o yaml`). Other kinds are passed over.
std::unique_ptr<ForeignAllocations> pools_in_directory(const os::FileTree& files, std::string directory);
Result<std::vector<ForeignAllocation>> read_pools(const std::string& name, const std::string& text);

struct Adopted {
  int taken = 0;
  std::vector<std::string> conflicts;  // addresses that somebody else has here already
};
Result<Adopted> adopt(Engine::Turn& turn, ForeignAllocations& allocations);

}  // namespace railbed::serve
