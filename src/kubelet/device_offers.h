// SPDX-License-Identifier: Apache-2.0
// The interface between the node's reconcile loop and the device plugin: which VFs the kubelet may allocate to pods,
// and which it has allocated.
//
// Why: a component that changes VFs must first withdraw them from what the kubelet can allocate, and must know which of
// them pods hold without an attachment: a vfio VF, or a pod between its admission and its ADD. The device plugin
// (src/kubelet) implements this over gRPC; the loop over node states and its tests see only values.
// Threading: any thread.
// Failure: Timeout if the kubelet was not notified in time, Io if it cannot be queried: a caller that would remove VFs
// then leaves them unchanged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "facts/node_facts.h"
#include "kubelet/allocated_vfs.h"
#include "plan/plan.h"

namespace railbed::kubelet {

// What pods can get, as it is now.
struct NodeDevices {
  std::map<std::string, std::vector<plan::PoolVf>> resources;  // as NodePlan::resources
  std::set<std::string> without_topology;                      // resources whose devices give no NUMA hint
  std::set<std::string> with_vhost_net;  // resources whose pods get /dev/vhost-net and /dev/net/tun
  std::set<std::string> with_mad;        // resources whose pods get umad
  std::set<PciAddress> unfinished;       // their steps failed or were not tried: not healthy
  // Why they are still their pods' although the DEL came: not healthy.
  std::map<PciAddress, std::string> orphaned;
  // VFs in `resources` that pods have under a name which is no longer theirs, and why no further pod gets them under
  // it: healthy anyway, since a kubelet that starts again refuses their pods otherwise.
  std::map<std::string, std::map<PciAddress, std::string>> ending;
  // The same VFs under their present name: why they are not healthy.
  std::map<PciAddress, std::string> taken;
  // VFs of resources that a drain of the node withdraws. Those that no pod has are not healthy; those of pods are, as
  // in `ending`, and no further pod gets them.
  std::set<PciAddress> drained;
  std::set<PciAddress> drained_of_pods;
  bool soft_rdma = false;  // as NodePlan::soft_rdma: a VF without an RDMA device gets one with its ADD
  facts::NodeFacts facts;  // for health, NUMA nodes and character devices
};

class DeviceOffers {
 public:
  virtual ~DeviceOffers() = default;
  // From now on the kubelet may give pods these and no others. Ends a withdrawal.
  virtual Result<void> offer(NodeDevices devices) = 0;
  // The kubelet gives these VFs to no new pod any more: it has been informed when this returns. Holds until the next
  // offer().
  virtual Result<void> withdraw(const std::set<PciAddress>& vfs) = 0;
  // The VFs that the kubelet has given to pods that have not ended.
  virtual Result<AllocatedVfs> allocated() = 0;
};

}  // namespace railbed::kubelet
