// SPDX-License-Identifier: Apache-2.0
#include "graph/objection.h"

#include <algorithm>

#include "base/command.h"
#include "base/format.h"
#include "facts/host_use.h"

namespace railbed::graph {
namespace {

constexpr std::string_view kNvidia = "15b3";
constexpr int kMaxInfinibandMtu = 4092;  // IPoIB datagram mode: 4096 less its 4-byte header (RFC 4391)
constexpr int kUsualEthernetMtu = 9978;  // the largest of common NICs (mlx5; igb 9216, i40e 9702)

// The place of a field, or of its policy where the field is absent.
const doc::Span& at(const doc::Span& span, const Origin& from) {
  return span.known() ? span : from.span;
}

std::string_view link_word(facts::LinkType type) {
  switch (type) {
    case facts::LinkType::kEthernet:
      return "Ethernet";
    case facts::LinkType::kInfiniband:
      return "InfiniBand";
    case facts::LinkType::kUnknown:
      return "unknown";
  }
  return "?";
}

std::string on_node(const facts::Nic& nic, const facts::NodeFacts& node) {
  return node.node.empty() ? pf_label(nic) : fmt::format("{} of node {}", pf_label(nic), node.node);
}

std::optional<Objection> wrong_link(const VfGroup& group, const facts::Nic& nic, const facts::NodeFacts& node) {
  if (group.link_type == api::WantedLinkType::kAny || nic.link_type == facts::LinkType::kUnknown) return {};
  const bool infiniband = group.link_type == api::WantedLinkType::kInfiniband;
  if (infiniband == (nic.link_type == facts::LinkType::kInfiniband)) return {};
  Objection found{.id = "RB-PF-002",
                  .span = at(group.from->link_type, *group.from),
                  .reason = fmt::format("linkType is {}, {} is {}", infiniband ? "IB" : "ETH", on_node(nic, node),
                                        link_word(nic.link_type))};
  if (nic.pci.vendor != kNvidia) {
    found.fix = fmt::format("linkType: {}; the link type of this NIC cannot be changed", infiniband ? "ETH" : "IB");
    return found;
  }
  const int port = nic.pci.address.function + 1;
  found.needs_reboot = fmt::format("LINK_TYPE_P{}={}", port, infiniband ? "IB" : "ETH");
  Command change{"mlxconfig", "-d"};
  change.value(nic.pci.address.to_string())
      .words({"set"})
      .option(fmt::format("LINK_TYPE_P{}", port), infiniband ? "1" : "2");
  found.fix = fmt::format("{}, then reboot; or linkType: {}", change, infiniband ? "ETH" : "IB");
  return found;
}

std::optional<Objection> wrong_mtu(const VfGroup& group, const facts::Nic& nic, const facts::NodeFacts& node) {
  if (nic.link_type != facts::LinkType::kInfiniband || group.mtu <= kMaxInfinibandMtu) return {};
  return Objection{.id = "RB-PF-003",
                   .span = at(group.from->mtu, *group.from),
                   .reason = fmt::format("mtu {}: {} is InfiniBand, where interfaces take at most {} "
                                         "(a 4096-byte packet less 4)",
                                         group.mtu, on_node(nic, node), kMaxInfinibandMtu),
                   .fix = fmt::format("mtu: {}", kMaxInfinibandMtu)};
}

}  // namespace

std::optional<Objection> objection(const VfGroup& group, const facts::Nic& nic, const facts::NodeFacts& node) {
  const Origin& from = *group.from;
  if (auto found = wrong_link(group, nic, node)) return found;
  if (group.num_vfs > nic.total_vfs.value_or(0))
    return Objection{.id = "RB-VF-002",
                     .span = at(from.num_vfs, from),
                     .reason = fmt::format("policy {} asks for {} VFs, {} allows {} (sriov_totalvfs)", from.policy,
                                           group.num_vfs, on_node(nic, node), *nic.total_vfs),
                     .fix = fmt::format("numVfs: {}", *nic.total_vfs),
                     .explains = doc::Says::kAboveWebhookLimit};
  if (group.device_type == DeviceType::kVfioPci && node.iommu == false)
    return Objection{
        .id = "RB-PF-004",
        .span = at(from.device_type, from),
        .reason = fmt::format("deviceType vfio-pci requires an IOMMU, but node {} has none enabled", node.node),
        .fix = "boot with intel_iommu=on iommu=pt (AMD: iommu=pt), with VT-d or AMD-Vi on in the BIOS",
        .needs_reboot = "intel_iommu=on iommu=pt"};
  if (group.eswitch_mode == EswitchMode::kSwitchdev && !nic.eswitch_mode)
    return Objection{
        .id = "RB-PF-005",
        .span = at(from.eswitch_mode, from),
        .reason = fmt::format("eSwitchMode switchdev: {} has no eswitch (devlink reports no mode)", on_node(nic, node)),
        .fix = "eSwitchMode: legacy"};
  return wrong_mtu(group, nic, node);
}

namespace {

// A NIC without an embedded switch behaves as one in legacy mode.
EswitchMode eswitch_mode_of(const facts::Nic& nic) {
  return nic.eswitch_mode.value_or(EswitchMode::kLegacy);
}

}  // namespace

bool changes_pf(const PfWanted& wanted) {
  const facts::Nic& nic = *wanted.nic;
  if (wanted.externally_managed) return false;
  if (nic.num_vfs != wanted.num_vfs || wanted.eswitch_mode != eswitch_mode_of(nic)) return true;
  return std::ranges::any_of(nic.netdevs, [&](const facts::NetInterface& netdev) {
    return netdev.mtu < wanted.mtu || !netdev.admin_up.value_or(false);
  });
}

namespace {

bool host_pf_allowed(const PfWanted& wanted) {
  return std::ranges::any_of(wanted.groups, [](const VfGroup& group) { return group.from->host_pf_allowed; });
}

std::optional<Objection> foreign_vfs(const PfWanted& wanted, const facts::NodeFacts& node) {
  const facts::Nic& nic = *wanted.nic;
  const Origin& lead = *wanted.lead;
  Objection found{.id = "RB-PF-006", .span = at(lead.externally_managed, lead)};
  const int pf_mtu = nic.netdevs.empty() ? 0 : nic.netdevs.front().mtu;
  if (wanted.num_vfs > nic.num_vfs) {
    found.reason = fmt::format("externallyManaged: {} wants {} VFs, {} has {}", wanted.num_vfs_from->place,
                               wanted.num_vfs, on_node(nic, node), nic.num_vfs);
    found.fix = "have them made before, or externallyManaged: false";
  } else if (pf_mtu > 0 && wanted.mtu > pf_mtu) {
    found.reason = fmt::format("externallyManaged: {} wants MTU {}, {} has {}", wanted.mtu_from->place, wanted.mtu,
                               on_node(nic, node), pf_mtu);
    found.fix = fmt::format("mtu: {}", pf_mtu);
  } else if (wanted.eswitch_mode != eswitch_mode_of(nic)) {
    found.reason = fmt::format("externallyManaged: {} wants eSwitchMode {}, {} is in {}", lead.place,
                               eswitch_mode_name(wanted.eswitch_mode), on_node(nic, node),
                               eswitch_mode_name(eswitch_mode_of(nic)));
    found.fix = fmt::format("eSwitchMode: {}", eswitch_mode_name(eswitch_mode_of(nic)));
  } else {
    return {};
  }
  return found;
}

}  // namespace

std::optional<Objection> objection(const PfWanted& wanted, const facts::NodeFacts& node) {
  if (wanted.externally_managed) return foreign_vfs(wanted, node);
  const std::string use = facts::host_use(*wanted.nic, node);
  if (use.empty() || !changes_pf(wanted) || host_pf_allowed(wanted)) return {};
  return Objection{
      .id = "RB-PF-001",
      .span = at(wanted.num_vfs_from->num_vfs, *wanted.num_vfs_from),
      .reason = fmt::format("{} is in use by the host ({}); changing it would cut that connection",
                            on_node(*wanted.nic, node), use),
      .fix = fmt::format("set annotation {}: \"true\" on the policy if a short outage is acceptable, or use another PF",
                         kAllowHostPf)};
}

void warn(const VfGroup& group, const facts::Nic& nic, const Graph& graph, doc::Diagnostics& diagnostics) {
  const Origin& from = *group.from;
  const facts::NodeFacts& node = *graph.facts;
  const bool infiniband = nic.link_type == facts::LinkType::kInfiniband;
  if (group.rdma && nic.rdma.empty() && !graph.soft_rdma)
    diagnostics
        .warning("RB-PF-101", at(from.is_rdma, from),
                 fmt::format("isRdma: {} has no RDMA device, so its VFs will have none", on_node(nic, node)))
        .with_fix("--soft-rdma gives them soft-RoCE devices (slow, for tests)");
  if (infiniband && !group.rdma && group.device_type == DeviceType::kNetdevice)
    diagnostics
        .warning("RB-PF-102", at(from.is_rdma, from),
                 fmt::format("{} is InfiniBand and isRdma is false: pods get no RDMA device", on_node(nic, node)))
        .with_fix("isRdma: true");
  if (nic.link_type == facts::LinkType::kEthernet && group.mtu > kUsualEthernetMtu)
    diagnostics
        .warning("RB-PF-103", at(from.mtu, from),
                 fmt::format("mtu {} exceeds the maximum of usual NICs ({}); the kernel will reject it", group.mtu,
                             kUsualEthernetMtu))
        .with_fix("mtu: 9000");
  for (const facts::RdmaDevice& rdma : nic.rdma)
    for (const facts::RdmaPort& port : rdma.ports)
      if (infiniband && group.mtu <= kMaxInfinibandMtu && port.active_mtu && group.mtu > *port.active_mtu - 4)
        diagnostics
            .warning("RB-PF-104", at(from.mtu, from),
                     fmt::format("mtu {}: the subnet of {} works with packets of {} bytes, interfaces with {}",
                                 group.mtu, on_node(nic, node), *port.active_mtu, *port.active_mtu - 4))
            .with_fix(fmt::format("mtu: {}", *port.active_mtu - 4));
}

}  // namespace railbed::graph
