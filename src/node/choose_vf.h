// SPDX-License-Identifier: Apache-2.0
// Which VF of a resource a pod's network gets.
//
// Why: the same manifests on the same machine must give the same VFs, and the interfaces of one pod belong on different
// rails. The rule, in this order:
//   1. the PF of which this pod has fewest VFs (one pod, several rails);
//   2. a PF on the NUMA node of the VFs that the pod has already;
//   3. the PF of which all pods together have fewest VFs (pods spread over rails);
//   4. the lowest PCI address of the PF, then the lowest index.
// Threading: pure function.
// Failure: nothing if no VF is free.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace railbed::node {

// A VF by its PF and index: before it is made, its address may not be known.
using VfId = std::pair<PciAddress, VfIndex>;
inline VfId id_of(const plan::PoolVf& vf) {
  return {vf.pf, vf.index};
}
using Holders = std::map<VfId, std::string>;  // the pod that has each VF
// Of the VFs of `known`, those that are in use.
Holders holders_of(const std::vector<plan::PoolVf>& known, const plan::InUse& in_use);

// `pool` is that of the resource; `known` are the VFs of all pools of the node.
std::optional<plan::PoolVf> choose_vf(const std::vector<plan::PoolVf>& pool, const std::string& pod,
                                      const Holders& holders, const std::vector<plan::PoolVf>& known);

}  // namespace railbed::node
