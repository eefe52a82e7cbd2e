// SPDX-License-Identifier: Apache-2.0
#include "apply/actions.h"

#include <algorithm>

#include "apply/hints.h"
#include "base/text.h"
#include "os/netlink/devlink.h"
#include "os/ports/vf_changes.h"

namespace railbed::apply {

namespace {

constexpr int kArpEthernet = 1;

}  // namespace

Actions::Actions(os::Kernel& kernel, os::LinkPort& links, const plan::PfPlan& pf, const Options& options)
    : kernel_(kernel), links_(links), pf_(pf), options_(options), waits_(kernel, options.stop) {}

// A PF function can have two ports; the plan's name picks one. Its index is kept, because names can change.
Result<IfIndex> Actions::pf_index() {
  if (!pf_index_) {
    std::vector<Netdev> netdevs = netdevs_of(files(), pf_.pf);
    if (netdevs.empty())
      return fail(Code::kNotFound, "{} has no network interface here (its driver: {})", pf_.pf,
                  files().exists(attribute(pf_.pf, "driver")) ? driver_of(files(), pf_.pf) : "none");
    auto named = std::ranges::find(netdevs, IfName{pf_.pf_name}, &Netdev::name);
    pf_index_ = named == netdevs.end() ? netdevs.front().index : named->index;
  }
  return *pf_index_;
}

Result<os::Link> Actions::pf_link() {
  return links_.find(TRY(pf_index()), os::WithVfs::kNo);
}

Result<void> Actions::operator()(const plan::SetAutoprobe& step) {
  std::string path = attribute(pf_.pf, "sriov_drivers_autoprobe");
  std::string wanted = step.on ? "1" : "0";
  if (TRY(os::read_line(files(), path)) == wanted) return {};
  return files().write(path, wanted);
}

Result<void> Actions::operator()(const plan::SetPfUp& step) {
  os::Link link = TRY(pf_link());
  if (link.up != step.up) TRY(links_.change(link.index, {.up = step.up}));
  return step.up ? wait_for_carrier() : Result<void>{};
}

// igb and others make VFs that never reach the PF when its link is not up. Without a cable the link never comes up, so
// after the wait a note is enough. InfiniBand's carrier waits for the subnet manager, which VFs do not need.
Result<void> Actions::wait_for_carrier() {
  if (no_carrier_) return {};
  auto first = pf_link();
  if (!first || !first->up || first->arp_type != kArpEthernet || first->lower_up) return {};
  auto carrier = [this]() -> Result<bool> { return TRY(pf_link()).lower_up; };
  if (TRY(waits_.for_link(options_.carrier_wait, carrier))) return {};
  no_carrier_ = true;
  notes_.push_back(
      fmt::format("{} ({}) has no carrier after {:g} s: check its cable and the switch port; its VFs have none either",
                  pf_.pf_name, pf_.pf, in_seconds(options_.carrier_wait)));
  return {};
}

Result<void> Actions::operator()(const plan::SetPfMtu& step) {
  os::Link link = TRY(pf_link());
  if (link.mtu == step.to) return {};
  auto changed = links_.change(link.index, {.mtu = step.to});
  if (!changed) return std::move(changed).hint(mtu_hint(changed.error(), step.to, std::nullopt));
  return {};
}

Result<void> Actions::operator()(const plan::SetEswitchMode& step) {
  if (TRY(os::eswitch_mode(*kernel_.questions(), pf_.pf)) == step.mode) return {};
  return TRY(kernel_.eswitch())->set_mode(pf_.pf, step.mode);
}

Result<void> Actions::operator()(const plan::SetVfCount& step) {
  int now = TRY(read_number(files(), attribute(pf_.pf, "sriov_numvfs")));
  if (step.to > 0) TRY(wait_for_carrier());
  if (now != step.to) {
    if (now != 0) {
      // Too many VFs must fail here, before the write of 0 destroys the existing ones.
      const auto total = read_number(files(), attribute(pf_.pf, "sriov_totalvfs"));
      if (total && *total < step.to)
        return fail(Code::kInvalid, "{} allows {} VFs (sriov_totalvfs), not {}", pf_.pf_name, *total, step.to);
      TRY(write_vf_count(0));  // the kernel answers EBUSY to a change from n to m
    }
    if (step.to != 0) TRY(write_vf_count(step.to));
  }
  return wait_for_vfs(step.to);
}

Result<void> Actions::write_vf_count(int count) {
  auto written = files().write(attribute(pf_.pf, "sriov_numvfs"), std::to_string(count));
  if (written) return {};
  std::optional<int> total;
  if (auto read = read_number(files(), attribute(pf_.pf, "sriov_totalvfs"))) total = *read;
  return std::move(written).hint(vf_count_hint(written.error(), count, total));
}

Result<void> Actions::wait_for_vfs(int count) {
  size_t wanted = static_cast<size_t>(count);
  bool there =
      TRY(waits_.for_device(options_.vfs_wait, [&]() -> Result<bool> { return count_vfs(files(), pf_.pf) == wanted; }));
  if (there) return {};
  size_t appeared = count_vfs(files(), pf_.pf);
  if (count == 0)
    return fail(Code::kTimeout, "{} VFs of {} still existed {:g} s after their removal", appeared, pf_.pf_name,
                in_seconds(options_.vfs_wait));
  auto taken_back = write_vf_count(0);
  Error error{.code = Code::kTimeout,
              .message = fmt::format("{} of {} VFs of {} had appeared after {:g} s; {}", appeared, count, pf_.pf_name,
                                     in_seconds(options_.vfs_wait),
                                     taken_back ? "they were removed again" : "removing them also failed"),
              .hint =
                  "the kernel's log (dmesg) has the reason; on a PCI bridge without ARI or bus numbers to spare, boot "
                  "with pci=realloc or pci=assign-busses"};
  return fail(std::move(error));
}

Result<void> Actions::operator()(const plan::SetVfMac& step) {
  return links_.change_vf(TRY(pf_index()), step.vf, {.mac = step.mac});
}

Result<void> Actions::set_macs(const std::vector<plan::SetVfMac>& steps) {
  std::vector<os::VfSetting> settings;
  for (const plan::SetVfMac& step : steps) settings.push_back({step.vf, {.mac = step.mac}});
  return os::change_vfs(links_, TRY(pf_index()), settings);
}

Result<void> Actions::operator()(const plan::SetVfGuids& step) {
  return links_.change_vf(TRY(pf_index()), step.vf, {.node_guid = step.node_guid, .port_guid = step.port_guid});
}

Result<void> Actions::operator()(const plan::SetVfMtu& planned) {
  plan::SetVfMtu step = planned;
  step.address = vf_address(files(), pf_.pf, step.vf, step.address);
  std::vector<Netdev> netdevs = netdevs_of(files(), step.address);
  if (netdevs.empty())
    return fail(Code::kNotFound, "VF {} ({}) has no interface here (its driver: {})", step.vf, step.address,
                files().exists(attribute(step.address, "driver")) ? driver_of(files(), step.address) : "none");
  for (const Netdev& netdev : netdevs) {
    if (TRY(links_.find(netdev.index, os::WithVfs::kNo)).mtu == step.to) continue;
    auto changed = links_.change(netdev.index, {.mtu = step.to});
    if (changed) continue;
    std::optional<int> pf_mtu;
    if (auto pf = pf_link()) pf_mtu = pf->mtu;
    return std::move(changed).hint(mtu_hint(changed.error(), step.to, pf_mtu));
  }
  return {};
}

// pf_run reports this step and never carries it out.
Result<void> Actions::operator()(const plan::NeedsReboot&) {
  return {};
}

std::string Actions::remains() const {
  std::vector<VfDevice> vfs = vfs_of(files(), pf_.pf);
  if (vfs.empty()) return fmt::format("{} has no VFs now", pf_.pf_name);
  auto idle = std::ranges::count_if(vfs, [this](const VfDevice& vf) { return driver_of(files(), vf.address).empty(); });
  std::string text = fmt::format("{} has {} now", pf_.pf_name, counted(vfs.size(), "VF"));
  return idle == 0 ? text : text + fmt::format(", {} of them without a driver", idle);
}

}  // namespace railbed::apply
