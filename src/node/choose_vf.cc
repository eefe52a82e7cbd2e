// SPDX-License-Identifier: Apache-2.0
#include "node/choose_vf.h"

#include <map>
#include <set>
#include <tuple>

namespace railbed::node {

namespace {

struct Held {
  std::map<PciAddress, int> by_pod;  // PF → how many of its VFs this pod has
  std::map<PciAddress, int> by_all;
  std::set<int> numa_nodes;  // of this pod's VFs
};

Held count(const std::string& pod, const Holders& holders, const std::vector<plan::PoolVf>& known) {
  Held held;
  std::set<VfId> seen;  // a VF can be in several pools
  for (const plan::PoolVf& vf : known) {
    auto holder = holders.find(id_of(vf));
    if (holder == holders.end() || !seen.insert(id_of(vf)).second) continue;
    ++held.by_all[vf.pf];
    if (holder->second != pod) continue;
    ++held.by_pod[vf.pf];
    if (vf.numa_node) held.numa_nodes.insert(*vf.numa_node);
  }
  return held;
}

}  // namespace

Holders holders_of(const std::vector<plan::PoolVf>& known, const plan::InUse& in_use) {
  Holders holders;
  for (const plan::PoolVf& vf : known)
    if (auto holder = in_use.find(vf.address); vf.address != PciAddress{} && holder != in_use.end())
      holders[id_of(vf)] = holder->second;
  return holders;
}

std::optional<plan::PoolVf> choose_vf(const std::vector<plan::PoolVf>& pool, const std::string& pod,
                                      const Holders& holders, const std::vector<plan::PoolVf>& known) {
  Held held = count(pod, holders, known);
  auto rank = [&](const plan::PoolVf& vf) {
    bool far = !held.numa_nodes.empty() && !(vf.numa_node && held.numa_nodes.contains(*vf.numa_node));
    return std::tuple(held.by_pod[vf.pf], far, held.by_all[vf.pf], vf.pf, vf.index);
  };
  const plan::PoolVf* best = nullptr;
  for (const plan::PoolVf& vf : pool) {
    if (!vf.held_by.empty() || holders.contains(id_of(vf))) continue;
    if (best == nullptr || rank(vf) < rank(*best)) best = &vf;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace railbed::node
