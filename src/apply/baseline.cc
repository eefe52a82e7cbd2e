// SPDX-License-Identifier: Apache-2.0
#include "apply/baseline.h"

#include <algorithm>

#include "apply/pci_device.h"
#include "os/netlink/devlink.h"

namespace railbed::apply {

namespace {

std::optional<EswitchMode> eswitch_mode(os::Kernel& kernel, PciAddress pf) {
  auto mode = os::eswitch_mode(*kernel.questions(), pf);
  if (!mode) return std::nullopt;  // most drivers have no eswitch
  return *mode;
}

VfBaseline read_vf(const os::FileTree& files, os::LinkPort& links, const VfDevice& vf,
                   const std::vector<os::VfInfo>& infos) {
  VfBaseline baseline{.index = vf.index, .driver = driver_of(files, vf.address)};
  for (const Netdev& netdev : netdevs_of(files, vf.address))
    if (auto link = links.find(netdev.index, os::WithVfs::kNo)) baseline.mtu = link->mtu;
  auto info = std::ranges::find(infos, vf.index, &os::VfInfo::index);
  if (info != infos.end()) baseline.admin_mac = info->mac;
  return baseline;
}

}  // namespace

Result<PfBaseline> read_baseline(os::Kernel& kernel, os::LinkPort& links, PciAddress pf, const std::string& pf_name) {
  const os::FileTree& files = kernel.files();
  PfBaseline baseline{.pf = pf, .pf_name = pf_name};
  baseline.num_vfs = TRY(read_number(files, attribute(pf, "sriov_numvfs")));
  // Kernels before 4.12 lack this attribute and always probe.
  baseline.autoprobe = os::read_line(files, attribute(pf, "sriov_drivers_autoprobe")).value_or("1") != "0";
  baseline.eswitch_mode = eswitch_mode(kernel, pf);

  std::vector<os::VfInfo> infos;
  std::vector<Netdev> netdevs = netdevs_of(files, pf);
  auto named = std::ranges::find(netdevs, IfName{pf_name}, &Netdev::name);
  if (named == netdevs.end()) named = netdevs.begin();
  if (named != netdevs.end()) {
    auto with_vfs = baseline.num_vfs > 0 ? os::WithVfs::kYes : os::WithVfs::kNo;
    os::Link link = TRY(links.find(named->index, with_vfs).context("reading the settings of {}", pf_name));
    baseline.mtu = link.mtu;
    baseline.up = link.up;
    infos = std::move(link.vfs);
  }
  if (baseline.num_vfs > 0)
    for (const VfDevice& vf : vfs_of(files, pf)) baseline.vfs.push_back(read_vf(files, links, vf, infos));
  return baseline;
}

}  // namespace railbed::apply
