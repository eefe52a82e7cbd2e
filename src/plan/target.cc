// SPDX-License-Identifier: Apache-2.0
#include "plan/target.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/pci_driver.h"
#include "plan/vf_identity.h"

namespace railbed::plan {
namespace {

// Whether the GUID was never set: it is zero, or all ones, which some tools write to reset it.
bool is_unset(const std::optional<Guid>& guid) {
  return guid && (guid->is_zero() || guid->value == ~uint64_t{0});
}

class StepMaker {
 public:
  StepMaker(const PfTarget& target, const InUse& in_use, const Options& options)
      : target_(target), nic_(*target.nic), in_use_(in_use), options_(options) {
    prefix_ = nic_.pci.address.to_string() + "/";
    existing_.resize(static_cast<size_t>(std::max(nic_.num_vfs, 0)));
    for (const facts::Vf& vf : nic_.vfs)
      if (vf.index.value >= 0 && static_cast<size_t>(vf.index.value) < existing_.size())
        existing_[static_cast<size_t>(vf.index.value)] = &vf;
  }

  PfSteps run() {
    result_.num_vfs = target_.pf_is_ours ? target_.num_vfs : std::min(target_.num_vfs, nic_.num_vfs);
    if (target_.pf_is_ours) decide_remake();
    if (remake_)
      result_.num_vfs = target_.num_vfs;
    else
      result_.num_vfs = std::min(result_.num_vfs, nic_.num_vfs);
    decide_pf_mtu();
    vf_steps_.reserve(static_cast<size_t>(result_.num_vfs) * 3);
    for (int vf = 0; vf < result_.num_vfs; ++vf) plan_vf(VfIndex{vf});
    if (target_.pf_is_ours) before_vfs();
    if (binds_to_kernel_ && nic_.vfs_autoprobe && !autoprobe()) {
      add("autoprobe-on", SetAutoprobe{true}, remake_ ? target_.count_why : target_.why);
      autoprobe_ = true;
    }
    std::ranges::move(vf_steps_, std::back_inserter(result_.steps));
    if (target_.pf_is_ours) after_vfs();
    if (target_.autoprobe && nic_.vfs_autoprobe && *target_.autoprobe != autoprobe())
      add("autoprobe-end", SetAutoprobe{*target_.autoprobe}, target_.why);
    return std::move(result_);
  }

 private:
  bool eswitch_differs() const {
    return target_.eswitch_mode && nic_.eswitch_mode && *target_.eswitch_mode != *nic_.eswitch_mode;
  }

  std::vector<std::string> holders() const {
    std::set<std::string> pods;
    for (const facts::Vf& vf : nic_.vfs)
      if (std::string pod = holder_of(vf, nic_, in_use_); !pod.empty()) pods.insert(std::move(pod));
    return {pods.begin(), pods.end()};
  }

  void hold_back(std::string change, const Why& why, std::vector<std::string> pods) {
    result_.held_back.push_back(
        {nic_.pci.address, target_.name, std::move(change), why.reason, why.policy, std::move(pods)});
  }

  // The kernel removes and recreates all VFs when their number or the eswitch mode changes.
  void decide_remake() {
    if (nic_.num_vfs == target_.num_vfs && !eswitch_differs()) return;
    std::vector<std::string> pods = nic_.num_vfs > 0 ? holders() : std::vector<std::string>{};
    if (!pods.empty() && !options_.disrupt) {
      hold_back(nic_.num_vfs == target_.num_vfs
                    ? fmt::format("eswitch mode {}", eswitch_mode_name(target_.eswitch_mode))
                    : fmt::format("{} VFs instead of {}", target_.num_vfs, nic_.num_vfs),
                target_.count_why, std::move(pods));
      return;
    }
    remake_ = true;
    disturbed_ = std::move(pods);
  }

  int pf_mtu() const { return nic_.netdevs.empty() ? 0 : nic_.netdevs.front().mtu; }
  bool mtu_differs() const { return target_.mtu && pf_mtu() > 0 && *target_.mtu != pf_mtu(); }

  // A new MTU resets the port of many NICs, and with it the links of its VFs.
  void decide_pf_mtu() {
    if (!target_.pf_is_ours || !mtu_differs()) return;
    std::vector<std::string> pods = remake_ ? disturbed_ : holders();
    if (!pods.empty() && !options_.disrupt) {
      hold_back(fmt::format("MTU {} instead of {}", *target_.mtu, pf_mtu()), target_.mtu_why, std::move(pods));
      max_vf_mtu_ = pf_mtu();
      return;
    }
    set_mtu_ = true;
    mtu_disturbs_ = std::move(pods);
  }

  void add(std::string_view id, Action action, const Why& why, const std::vector<std::string>& pods = {},
           Disturbs disturbs = Disturbs::kPods) {
    result_.steps.push_back({.id = prefix_ + std::string(id),
                             .action = std::move(action),
                             .reason = why.reason,
                             .policy = why.policy,
                             .disturbs = pods.empty() ? Disturbs::kNothing : disturbs,
                             .pods = pods});
  }

  void before_vfs() {
    const bool make = remake_ && target_.num_vfs > 0;
    if (make && nic_.vfs_autoprobe.value_or(false)) {
      add("autoprobe-off", SetAutoprobe{false}, target_.count_why);
      autoprobe_ = false;
    }
    if (set_mtu_ && *target_.mtu > pf_mtu())
      add("mtu", SetPfMtu{pf_mtu(), *target_.mtu}, target_.mtu_why, mtu_disturbs_);
    // With the PF down, igb makes VFs that never reach it.
    if (target_.up.value_or(false) && !nic_.netdevs.empty() && !nic_.netdevs.front().admin_up.value_or(false))
      add("up", SetPfUp{true}, remake_ ? target_.count_why : target_.why);
    if (remake_) {
      int from = nic_.num_vfs;
      if (eswitch_differs()) {
        if (from > 0) add("vf-count-0", SetVfCount{from, 0}, target_.count_why, disturbed_, Disturbs::kDrain);
        from = 0;
        add("eswitch", SetEswitchMode{*target_.eswitch_mode}, target_.eswitch_why);
      }
      if (from != target_.num_vfs)
        add("vf-count", SetVfCount{from, target_.num_vfs}, target_.count_why, disturbed_, Disturbs::kDrain);
    }
  }

  void after_vfs() {
    if (set_mtu_ && *target_.mtu < pf_mtu())
      add("mtu", SetPfMtu{pf_mtu(), *target_.mtu}, target_.mtu_why, mtu_disturbs_);
    if (target_.up && !*target_.up && !nic_.netdevs.empty() && nic_.netdevs.front().admin_up.value_or(true))
      add("down", SetPfUp{false}, target_.why);
  }

  bool autoprobe() const { return autoprobe_.value_or(nic_.vfs_autoprobe.value_or(true)); }

  void add_vf(VfIndex vf, std::string_view what, Action action, const Why& why, const std::string& pod) {
    Step& step = vf_steps_.emplace_back();
    step.id.reserve(prefix_.size() + 12);
    step.id = prefix_;
    step.id += "vf";
    step.id += std::to_string(vf.value);
    step.id += '/';
    step.id += what;
    step.action = std::move(action);
    step.reason = why.reason;
    step.policy = why.policy;
    if (pod.empty()) return;
    step.disturbs = Disturbs::kPods;
    step.pods = {pod};
  }

  struct VfChange {
    bool identity = false, bind = false, mtu = false;
    bool any() const { return identity || bind || mtu; }
  };

  VfChange change_of(const VfTarget& wanted, const facts::Vf* now) const {
    const bool kernel = wanted.device_type == DeviceType::kNetdevice;
    const bool mtu_wanted = wanted.mtu > 0 && (max_vf_mtu_ == 0 || wanted.mtu <= max_vf_mtu_);
    if (now == nullptr) return {.identity = true, .bind = wanted.device_type.has_value(), .mtu = kernel && mtu_wanted};
    const std::string& driver = now->pci.driver;
    VfChange change;
    if (kernel) change.bind = driver.empty() || is_user_space_driver(driver);
    if (wanted.device_type == DeviceType::kVfioPci) change.bind = driver != kVfioPciDriver;
    if (wanted.guid)
      change.identity = is_unset(now->port_guid) || is_unset(now->node_guid) || (change.bind && !now->port_guid);
    else
      change.identity = change.bind && (!now->admin_mac || now->admin_mac->is_zero());
    // A VF with a running driver takes a new GUID only by another bind. kLeave means that no policy names the VF.
    if (!wanted.device_type) change.identity = false;
    if (change.identity && wanted.guid) change.bind = true;
    if (kernel && mtu_wanted)
      change.mtu =
          change.bind ? !now->netdev || now->netdev->mtu != wanted.mtu : now->netdev && now->netdev->mtu != wanted.mtu;
    return change;
  }

  void plan_vf(VfIndex vf) {
    const VfTarget& wanted = target_.vfs[static_cast<size_t>(vf.value)];
    const facts::Vf* now = remake_ ? nullptr : existing_[static_cast<size_t>(vf.value)];
    if (!remake_ && now == nullptr) return;  // the facts do not list this VF
    const VfChange change = change_of(wanted, now);
    if (!change.any()) return;
    const std::string pod = now != nullptr ? holder_of(*now, nic_, in_use_) : "";
    if (!pod.empty() && !options_.disrupt) {
      hold_back(describe_change(vf, wanted, change), *wanted.why, {pod});
      return;
    }
    if (change.identity && wanted.guid)
      add_vf(vf, "guids", SetVfGuids{vf, *wanted.guid, *wanted.guid}, *wanted.why, pod);
    else if (change.identity && wanted.mac)
      add_vf(vf, "mac", SetVfMac{vf, *wanted.mac}, *wanted.why, pod);
    const PciAddress address = vf_address(nic_, vf).value_or(PciAddress{});
    if (change.bind) {
      const DeviceType type = wanted.device_type.value_or(DeviceType::kNetdevice);
      add_vf(vf, "bind", BindVf{vf, address, now != nullptr ? now->pci.driver : "", type}, *wanted.why, pod);
      binds_to_kernel_ = binds_to_kernel_ || type == DeviceType::kNetdevice;
    }
    if (change.mtu)
      add_vf(vf, "mtu", SetVfMtu{vf, address, now != nullptr && now->netdev ? now->netdev->mtu : 0, wanted.mtu},
             *wanted.why, pod);
  }

  static std::string describe_change(VfIndex vf, const VfTarget& wanted, const VfChange& change) {
    std::vector<std::string> parts;
    if (change.identity && wanted.guid) parts.push_back(fmt::format("GUID {}", *wanted.guid));
    if (change.bind)
      parts.push_back(fmt::format("bind to {}", driver_words(wanted.device_type.value_or(DeviceType::kNetdevice))));
    if (change.mtu) parts.push_back(fmt::format("MTU {}", wanted.mtu));
    return fmt::format("VF {}: {}", vf, fmt::join(parts, ", "));
  }

  const PfTarget& target_;
  const facts::Nic& nic_;
  const InUse& in_use_;
  const Options& options_;
  std::string prefix_;
  std::vector<const facts::Vf*> existing_;
  PfSteps result_;
  std::vector<Step> vf_steps_;
  std::vector<std::string> disturbed_;
  std::vector<std::string> mtu_disturbs_;
  bool remake_ = false;
  bool set_mtu_ = false;
  int max_vf_mtu_ = 0;  // the limit while the PF's MTU cannot be raised; 0: no limit
  bool binds_to_kernel_ = false;
  std::optional<bool> autoprobe_;  // after the steps added so far
};

}  // namespace

std::string holder_of(const facts::Vf& vf, const facts::Nic& nic, const InUse& in_use) {
  if (!in_use.empty())
    if (auto found = in_use.find(vf.pci.address); found != in_use.end()) return found->second;
  // A VF that has a driver but no interface here was moved to another namespace. Where the PF has no interface either
  // (the IPoIB module is missing), its absence means nothing.
  const bool moved = !vf.pci.driver.empty() && !is_user_space_driver(vf.pci.driver) && !vf.netdev;
  return moved && !nic.netdevs.empty() ? std::string(kUnknownHolder) : "";
}

PfSteps steps_to(const PfTarget& target, const InUse& in_use, const Options& options) {
  return StepMaker(target, in_use, options).run();
}

}  // namespace railbed::plan
