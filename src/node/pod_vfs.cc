// SPDX-License-Identifier: Apache-2.0
#include "node/pod_vfs.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "apply/pci_device.h"
#include "base/pci_driver.h"
#include "node/choose_vf.h"

namespace railbed::node {

namespace {

std::unexpected<Error> none_free(const std::string& resource, size_t planned, size_t ready, size_t held) {
  return fail(Error{.code = Code::kExhausted,
                    .message = fmt::format("no free VF of {}: {} planned here, {} of them ready, {} held by pods",
                                           resource, planned, ready, held),
                    .hint = "`railbed status` shows their pods; increase numVfs for more"});
}

class VfChooser {
 public:
  VfChooser(os::Kernel& kernel, const Resolved& now) : kernel_(kernel), now_(now) {
    for (const auto& [resource, pool] : now.plan.resources)
      for (plan::PoolVf vf : pool) known_.push_back(located(std::move(vf)));
  }

  Result<plan::PoolVf> free(const WantedVf& wanted, const plan::InUse& in_use) const {
    const auto& [resource, pod, asked] = wanted;
    auto found = now_.plan.resources.find(resource);
    if (found == now_.plan.resources.end())
      return fail(Code::kNotFound, "no policy creates VFs of {} on this node", resource);
    std::vector<plan::PoolVf> pool;
    size_t held = 0;
    for (const plan::PoolVf& planned : found->second) {
      plan::PoolVf vf = located(planned);
      vf.held_by.clear();
      if (in_use.contains(vf.address))
        ++held;
      else if ((asked.empty() || vf.address.to_string() == asked) && usable(vf) && is_here(vf))
        pool.push_back(std::move(vf));
    }
    if (auto vf = choose_vf(pool, pod, holders_of(known_, in_use), known_)) return *vf;
    if (!asked.empty()) return not_free(wanted, in_use, found->second);
    return none_free(resource, found->second.size(), pool.size(), held);
  }
  bool has(const PciAddress& device) const {
    return std::ranges::find(known_, device, &plan::PoolVf::address) != known_.end();
  }

 private:
  std::unexpected<Error> not_free(const WantedVf& wanted, const plan::InUse& in_use,
                                  const std::vector<plan::PoolVf>& pool) const {
    std::vector<std::string> free;
    bool is_there = false;
    for (const plan::PoolVf& planned : pool) {
      const plan::PoolVf vf = located(planned);
      is_there = is_there || vf.address.to_string() == wanted.asked;
      if (!in_use.contains(vf.address) && usable(vf) && is_here(vf)) free.push_back(vf.address.to_string());
    }
    return fail(Error{.code = is_there ? Code::kExhausted : Code::kInvalid,
                      .message = fmt::format("pod {} requests device {} by deviceID, which is {} {}", wanted.pod,
                                             wanted.asked, is_there ? "not free in" : "no VF of", wanted.resource),
                      .hint = free.empty() ? "no VF of it is free" : fmt::format("free: {}", fmt::join(free, ", "))});
  }

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

VfPools::VfPools(const Resolved& now, const plan::InUse& in_use) : now_(now) {
  for (const auto& [resource, pool] : now.plan.resources) known_.insert(known_.end(), pool.begin(), pool.end());
  holders_ = holders_of(known_, in_use);
}

const std::vector<plan::PoolVf>* VfPools::of(const std::string& resource) const {
  auto found = now_.plan.resources.find(resource);
  return found == now_.plan.resources.end() ? nullptr : &found->second;
}

Result<plan::PoolVf> VfPools::choose(const std::string& resource, const std::string& pod, const std::string& asked) {
  const std::vector<plan::PoolVf>* planned = of(resource);
  if (planned == nullptr) return fail(Code::kNotFound, "no policy creates VFs of {} on this node", resource);
  std::vector<plan::PoolVf> ready;
  for (const plan::PoolVf& vf : *planned)
    if (!now_.unfinished.contains(id_of(vf)) && (asked.empty() || vf.address.to_string() == asked)) ready.push_back(vf);
  if (auto vf = choose_vf(ready, pod, holders_, known_)) {
    take(*vf, pod);
    return *vf;
  }
  const auto held = std::ranges::count_if(
      *planned, [&](const plan::PoolVf& vf) { return !vf.held_by.empty() || holders_.contains(id_of(vf)); });
  return none_free(resource, planned->size(), ready.size(), static_cast<size_t>(held));
}

Result<plan::PoolVf> free_vf(os::Kernel& kernel, const Resolved& now, const WantedVf& wanted,
                             const plan::InUse& in_use) {
  return VfChooser(kernel, now).free(wanted, in_use);
}

bool is_in_a_pool(os::Kernel& kernel, const Resolved& now, const PciAddress& device) {
  return VfChooser(kernel, now).has(device);
}

}  // namespace railbed::node
