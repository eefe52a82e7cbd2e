// SPDX-License-Identifier: Apache-2.0
#include "node/pod_vfs.h"

#include <algorithm>

#include "apply/pci_device.h"
#include "attach/result.h"
#include "base/pci_driver.h"
#include "node/choose_vf.h"

namespace railbed::node {

namespace {

class VfChooser {
 public:
  VfChooser(os::Kernel& kernel, const Resolved& now) : kernel_(kernel), now_(now) {
    for (const auto& [resource, pool] : now.plan.resources)
      for (plan::PoolVf vf : pool) known_.push_back(located(std::move(vf)));
  }

  Result<ChosenVfs> choose(state::Store& store) const {
    plan::InUse in_use = TRY(in_use_by(store));
    std::vector<state::Attachment> attachments = TRY(store.attachments());
    ChosenVfs chosen;
    for (const graph::PodOnNode& pod : now_.graph().pods)
      for (const graph::PodNetwork& network : pod.networks) {
        if (network.network == nullptr || network.network->resource.empty()) continue;
        std::string key = pod.pod->key();
        auto vf = vf_for(key, network, in_use, attachments);
        if (vf) in_use[vf->address] = key;
        chosen.emplace(ipam::Owner{key, network.interface}, std::move(vf));
      }
    return chosen;
  }

  Result<plan::PoolVf> free(const std::string& resource, const std::string& pod, const plan::InUse& in_use) const {
    auto found = now_.plan.resources.find(resource);
    if (found == now_.plan.resources.end())
      return fail(Code::kNotFound, "no policy makes VFs of {} on this node", resource);
    std::vector<plan::PoolVf> pool;
    size_t held = 0;
    for (const plan::PoolVf& planned : found->second) {
      plan::PoolVf vf = located(planned);
      vf.held_by.clear();
      if (in_use.contains(vf.address))
        ++held;
      else if (usable(vf) && is_here(vf))
        pool.push_back(std::move(vf));
    }
    if (auto vf = choose_vf(pool, pod, in_use, known_)) return *vf;
    return none_free(resource, found->second.size(), pool.size(), held);
  }

 private:
  // The plan may not know the addresses of VFs.
  plan::PoolVf located(plan::PoolVf vf) const {
    vf.address = apply::vf_address(kernel_.files(), vf.pf, vf.index, vf.address);
    return vf;
  }

  // Whether the VF is as the plan wants it; steps may have failed.
  bool usable(const plan::PoolVf& vf) const {
    if (now_.unfinished.contains({vf.pf, vf.index})) return false;
    std::string driver = apply::driver_of(kernel_.files(), vf.address);
    return vf.device_type == DeviceType::kVfioPci ? driver == kVfioPciDriver
                                                  : !driver.empty() && !is_user_space_driver(driver);
  }

  // The VF that this interface already has, the one that the pod asks for, or a free one.
  Result<plan::PoolVf> vf_for(const std::string& pod, const graph::PodNetwork& network, const plan::InUse& in_use,
                              const std::vector<state::Attachment>& attachments) const {
    const std::string& resource = network.network->resource;
    auto found = now_.plan.resources.find(resource);
    if (found == now_.plan.resources.end())
      return fail(Code::kNotFound, "no policy makes VFs of {} on this node", resource);
    for (const state::Attachment& attachment : attachments) {
      if (attachment.pod != pod || attachment.interface != network.interface) continue;
      for (const plan::PoolVf& planned : found->second)
        if (plan::PoolVf vf = located(planned); vf.address.to_string() == attachment.device) return vf;
    }
    std::vector<plan::PoolVf> pool;
    for (const plan::PoolVf& planned : found->second)
      if (plan::PoolVf vf = located(planned); usable(vf)) pool.push_back(vf);
    if (network.selection->device_id.present)
      std::erase_if(pool,
                    [&](const plan::PoolVf& vf) { return vf.address.to_string() != *network.selection->device_id; });
    if (auto vf = choose_vf(pool, pod, in_use, known_)) return *vf;
    size_t held = std::ranges::count_if(
        found->second, [&](const plan::PoolVf& vf) { return !vf.held_by.empty() || in_use.contains(vf.address); });
    return none_free(resource, found->second.size(), pool.size(), held);
  }

  static std::unexpected<Error> none_free(const std::string& resource, size_t planned, size_t ready, size_t held) {
    return fail(Error{.code = Code::kExhausted,
                      .message = fmt::format("no free VF of {}: {} planned here, {} of them ready, {} held by pods",
                                             resource, planned, ready, held),
                      .hint = "`railbed status` shows who has them; a larger numVfs makes more"});
  }

  // Whether the VF's interface is in this namespace, or the VF needs none.
  bool is_here(const plan::PoolVf& vf) const {
    return vf.device_type == DeviceType::kVfioPci ||
           kernel_.files().list(fmt::format("/sys/bus/pci/devices/{}/net", vf.address)).has_value();
  }

  os::Kernel& kernel_;
  const Resolved& now_;
  std::vector<plan::PoolVf> known_;
};

}  // namespace

Result<ChosenVfs> choose_vfs(os::Kernel& kernel, state::Store& store, const Resolved& now) {
  return VfChooser(kernel, now).choose(store);
}

Result<plan::PoolVf> free_vf(os::Kernel& kernel, const Resolved& now, const std::string& resource,
                             const std::string& pod, const plan::InUse& in_use) {
  return VfChooser(kernel, now).free(resource, pod, in_use);
}

namespace {

// A network may set its own MTU on purpose; then the policy's does not apply.
bool sets_mtu(const Resolved& now, const std::string& network) {
  auto found = now.catalog().networks.find(network);
  if (found == now.catalog().networks.end()) return true;
  return std::ranges::any_of(found->second.definition.config.plugins,
                             [](const api::Plugin& plugin) { return plugin.config.find("mtu") != nullptr; });
}

}  // namespace

Result<std::vector<plan::HeldBack>> held_mtus(state::Store& store, const Resolved& now) {
  std::vector<plan::HeldBack> held;
  for (const state::Attachment& attachment : TRY(store.attachments())) {
    auto pool = now.plan.resources.find(attachment.resource);
    auto result = attach::result_from_json(attachment.result);
    if (pool == now.plan.resources.end() || !result || sets_mtu(now, attachment.network)) continue;
    for (const plan::PoolVf& vf : pool->second) {
      if (vf.address.to_string() != attachment.device || vf.mtu == 0 || vf.mtu == result->mtu) continue;
      held.push_back({.pf = vf.pf,
                      .pf_name = vf.pf_name,
                      .change = fmt::format("VF {}: MTU {} instead of {}", vf.index, vf.mtu, result->mtu),
                      .reason = fmt::format("policy {} wants it", vf.policy),
                      .policy = vf.policy,
                      .pods = {attachment.pod}});
    }
  }
  return held;
}

}  // namespace railbed::node
