// SPDX-License-Identifier: Apache-2.0
// Which VFs the pods of this node get.
//
// Why two ways: `up` chooses over values, for all pods at once and before their VFs exist (VfPools, used by
// pod_decisions.h); an agent chooses for one pod, among the existing VFs (free_vf). The rule is the same (choose_vf.h).
// Threading: one thread.
// Failure: Exhausted if no VF is free, per interface.
#pragma once

#include <map>

#include "ipam/assign.h"
#include "node/choose_vf.h"
#include "node/resolved.h"

namespace railbed::node {

using ChosenVfs = std::map<ipam::Owner, Result<plan::PoolVf>>;

// The VFs that a plan provides, as they are behind its steps, and which pods have them.
class VfPools {
 public:
  // `now` must outlive this.
  VfPools(const Resolved& now, const plan::InUse& in_use);
  // Null where no policy makes VFs of the resource.
  const std::vector<plan::PoolVf>* of(const std::string& resource) const;
  void take(const plan::PoolVf& vf, const std::string& pod) { holders_[id_of(vf)] = pod; }
  // A free one, which is taken then. `asked` is the address that the pod asks for; empty: any.
  Result<plan::PoolVf> choose(const std::string& resource, const std::string& pod, const std::string& asked);

 private:
  const Resolved& now_;
  std::vector<plan::PoolVf> known_;
  Holders holders_;
};

// One VF of `resource` for the pod, by the same rule: free by `in_use`, as the plan wants it, and here. What
// the plan says about holders does not count: it may be older than `in_use`.
struct WantedVf {
  const std::string& resource;
  const std::string& pod;
  const std::string& asked;  // the address that the pod asks for; empty: any
};
Result<plan::PoolVf> free_vf(os::Kernel& kernel, const Resolved& now, const WantedVf& wanted,
                             const plan::InUse& in_use);
// Whether a policy makes it a VF of a resource.
bool is_in_a_pool(os::Kernel& kernel, const Resolved& now, const PciAddress& device);

}  // namespace railbed::node
