// SPDX-License-Identifier: Apache-2.0
// Addresses that original plugins gave before this machine was switched over, where their files do not say
// so.
//
// Why: host-local's files are here and are read as they are (host_local.h); whereabouts keeps its allocations
// in IPPool objects of the API server. Without them the agent would hand out addresses that running pods
// have. What is picked up becomes a lease of its container and interface.
//
// How long it stays taken depends on whose it is. A pool does not say on which node a pod runs, so the files
// that the runtime or Multus keep of each container until DEL do (runtime_containers.h). A container of this
// machine has its addresses until its DEL comes, or until nobody knows it any more; the list may be as old as
// it likes, and brings nothing back that was freed here. One of another machine has them as long as the list
// says so, which is read again at each start of the agent and with each GC.
// Threading: a Turn's thread. Failure: Invalid with the place in the file; nothing is changed then.
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
