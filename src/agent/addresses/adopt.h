// SPDX-License-Identifier: Apache-2.0
// Adopts addresses that original plugins allocated before this machine was switched over, if their files do not record
// them.
//
// Why: host-local's files are here and are read unmodified (host_local.h); whereabouts keeps its allocations in IPPool
// objects of the API server. Without them the agent would allocate addresses that running pods have. Each adopted
// allocation becomes a lease of its container and interface.
//
// The lifetime of the lease depends on its owner. A pool does not record the node of a pod, but the runtime's or
// Multus' files of each container, which exist until DEL, do (runtime_containers.h). A container of this machine keeps
// its addresses until its DEL, or until it is no longer known; the list may be of any age, and does not restore what
// was released here. A container of another machine keeps them as long as they are in the list, which is read again at
// each start of the agent and with each GC.
// Threading: a Turn's thread.
// Failure: Invalid with the location in the file; nothing is changed then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "base/ip.h"
#include "os/ports/disk.h"
#include "os/ports/file_tree.h"

namespace railbed::agent {

struct ForeignAllocation {
  std::string pool;  // ipam::pool_of()
  IpAddress address;
  std::string pod;  // "namespace/name"; may be empty
  std::string container;
  std::string ifname;  // empty in pools of old versions
  friend bool operator==(const ForeignAllocation&, const ForeignAllocation&) = default;
};

class ForeignAllocations {
 public:
  virtual ~ForeignAllocations() = default;
  virtual Result<std::vector<ForeignAllocation>> all() = 0;
};

// IPPool objects of whereabouts in the *.yaml, *.yml and *.json files of a directory, single or as a list (`kubectl get
// ippools -A -o yaml`). Other kinds are ignored.
std::unique_ptr<ForeignAllocations> pools_in_directory(const os::FileTree& files, std::string directory);
Result<std::vector<ForeignAllocation>> read_pools(const std::string& name, const std::string& text);

struct Adopted {
  int taken = 0;                       // allocations that were taken over for the first time
  int freed = 0;                       // allocations that have ended since
  std::vector<std::string> conflicts;  // addresses that another owner has here already
};
Result<Adopted> adopt(Engine::Turn& turn, ForeignAllocations& allocations, os::Disk& disk);

// Frees what was taken over of one container and interface, after its DEL. Old pools lack the container or the
// interface: then the pod's name decides, with any interface. Nothing to free is success.
struct AdoptedOwner {
  std::string container;
  std::string pod;  // may be empty
  std::string ifname;
};
Result<void> release_adopted(Engine::Turn& turn, const AdoptedOwner& gone);

// Frees allocations of containers on this machine that `lives` does not know any more. Returns how many.
Result<int> collect_adopted(Engine::Turn& turn, const std::function<bool(const std::string&)>& lives);

}  // namespace railbed::agent
