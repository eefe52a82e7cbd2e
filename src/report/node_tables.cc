// SPDX-License-Identifier: Apache-2.0
#include "report/node_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "doc/text.h"
#include "facts/ipoib.h"
#include "facts/pci_ids.h"
#include "facts/pcie_troubles.h"
#include "facts/ports.h"
#include "facts/rails.h"
#include "facts/sriov_advice.h"
#include "facts/troubles.h"
#include "facts/vf_ids.h"
#include "findings/printers.h"
#include "report/joined.h"

namespace railbed::report {
namespace {

using facts::GpuPath;
using facts::LinkType;
using facts::NetInterface;
using facts::Nic;
using facts::NodeFacts;
using facts::RdmaDevice;
using facts::RdmaPort;
using facts::Vf;

template <typename T>
Cell optional_cell(const std::optional<T>& value) {
  if (!value) return {};
  if constexpr (std::is_arithmetic_v<T>)
    return Cell(*value);
  else
    return Cell(value->to_string());
}

std::string ids_of(const facts::PciDevice& pci) {
  return pci.vendor.empty() ? std::string() : pci.vendor + ":" + pci.device;
}

std::string link_text(LinkType type) {
  if (type == LinkType::kInfiniband) return "IB";
  return type == LinkType::kEthernet ? "Eth" : "";
}

std::string rdma_text(const RdmaDevice& device) {
  return device.soft ? device.name + " (soft)" : device.name;
}

Cell state_cell(const NetInterface* netdev, const RdmaPort* port) {
  if (port != nullptr && !port->state.empty()) {
    if (port->state == "ACTIVE") return {port->state, Paint::kGood};
    return {port->state, port->state == "DOWN" ? Paint::kBad : Paint::kWarning};
  }
  if (netdev == nullptr) return {};
  if (netdev->admin_up == false) return {"off", Paint::kDim};
  // Where the flags are unknown, a carrier still means that it is up: the kernel gives none of one that is down.
  if (!netdev->carrier) return netdev->oper_state == "up" ? Cell("up", Paint::kGood) : Cell();
  return *netdev->carrier ? Cell("up", Paint::kGood) : Cell("no carrier", Paint::kBad);
}

Cell rate_cell(const NetInterface* netdev, const RdmaPort* port, bool soft) {
  bool down = port != nullptr && port->state == "DOWN";
  if (port != nullptr && port->rate_gbps && !down && !soft) return fmt::format("{:g}G", *port->rate_gbps);
  if (netdev != nullptr && netdev->speed_mbps) return fmt::format("{:g}G", *netdev->speed_mbps / 1000.0);
  return {};
}

Cell mtu_cell(const NetInterface* netdev) {
  return netdev != nullptr && netdev->mtu > 0 ? Cell(netdev->mtu) : Cell();
}

Cell vfs_cell(const Nic& nic) {
  if (!nic.total_vfs) return {};
  return fmt::format("{}/{}", nic.num_vfs, *nic.total_vfs);
}

std::map<PciAddress, int> gpu_numbers(const NodeFacts& facts) {
  std::map<PciAddress, int> numbers;
  for (const facts::Gpu& gpu : facts.gpus) numbers.emplace(gpu.pci.address, static_cast<int>(numbers.size()));
  return numbers;
}

// "0 PIX", "0-3 NODE": all nearest GPUs, by their numbers in the GPU table.
Cell nearest_cell(const Nic& nic, const std::map<PciAddress, int>& numbers) {
  if (nic.gpus.empty() || nic.gpus.front().kind.empty()) return {};
  std::vector<int> nearest;
  for (const GpuPath& path : nic.gpus)
    if (path.kind == nic.gpus.front().kind && numbers.contains(path.gpu)) nearest.push_back(numbers.at(path.gpu));
  return fmt::format("{} {}", number_list(nearest), nic.gpus.front().kind);
}

std::string netdev_names(const NetInterface& netdev, Detail detail) {
  if (detail == Detail::kNormal || netdev.alt_names.empty()) return netdev.name;
  return fmt::format("{} ({})", netdev.name, joined(netdev.alt_names));
}

Cell address_cell(const NetInterface* netdev, const RdmaPort* port) {
  if (port != nullptr && port->port_guid) return port->port_guid->to_string();
  if (netdev == nullptr) return {};
  if (netdev->ipoib) return netdev->ipoib->port_guid.to_string();
  return optional_cell(netdev->mac);
}

// Interface → interfaces on top of it: VLANs, macvlans, IPoIB partitions.
using Riders = std::multimap<std::string_view, std::string_view>;

Riders riders_of(const NodeFacts& facts) {
  Riders riders;
  for (const NetInterface& netdev : facts.virtual_netdevs)
    if (!netdev.lower.empty()) riders.emplace(netdev.lower, netdev.name);
  return riders;
}

Cell used_by_cell(const NetInterface* netdev, const Riders& riders) {
  if (netdev == nullptr) return {};
  std::vector<std::string> uses;
  if (!netdev->master.empty()) uses.push_back(netdev->master);
  if (netdev->has_default_route) uses.emplace_back("default route");
  for (const IpPrefix& address : netdev->addresses) {
    bool link_local = address.address.family == IpFamily::kV6 && address.address.bytes[0] == 0xfe &&
                      (address.address.bytes[1] & 0xc0) == 0x80;
    if (!link_local) uses.push_back(address.to_string());
  }
  for (auto [rider, end] = riders.equal_range(netdev->name); rider != end; ++rider) uses.emplace_back(rider->second);
  return joined(uses);
}

// "gen5 x16" of 32 GT/s; speeds of no generation as they are.
std::string pcie_generation(double speed_gts, int width) {
  constexpr std::array<double, 6> kGenerations = {2.5, 5, 8, 16, 32, 64};
  const auto at = std::ranges::find(kGenerations, speed_gts);
  if (at == kGenerations.end()) return facts::pcie_text(speed_gts, width);
  return fmt::format("gen{} x{}", at - kGenerations.begin() + 1, width);
}

std::string role_text(const Nic& nic, const facts::NicRole& role) {
  if (!role.rail && facts::is_vf_function(nic.pci)) return "VF";
  return role.rail ? fmt::format("rail {}", *role.rail) : std::string(facts::role_name(role.role));
}

Cell pcie_cell(const std::optional<facts::PcieLink>& link) {
  if (!link) return {};
  return {pcie_generation(link->speed_gts, link->width), facts::is_below_possible(*link) ? Paint::kBad : Paint::kNone};
}

void add_ports(Table& table, const Nic& nic, const facts::NicRole& role, Detail detail,
               const std::map<PciAddress, int>& gpus, const Riders& riders) {
  bool first = true;
  for (const facts::CardPort& port : facts::ports_of(nic)) {
    std::string model = facts::short_model(nic.pci.model);
    if (model.empty()) model = ids_of(nic.pci);
    table.row({first ? Cell(role_text(nic, role)) : Cell(),
               Cell(nic.pci.address.to_string(), first ? Paint::kNone : Paint::kDim), model,
               port.netdev != nullptr ? Cell(netdev_names(*port.netdev, detail)) : Cell(),
               port.device != nullptr ? Cell(rdma_text(*port.device)) : Cell(),
               link_text(port.rdma != nullptr && port.rdma->link_type != LinkType::kUnknown ? port.rdma->link_type
                                                                                            : nic.link_type),
               state_cell(port.netdev, port.rdma),
               rate_cell(port.netdev, port.rdma, port.device != nullptr && port.device->soft), mtu_cell(port.netdev),
               first ? pcie_cell(nic.pci.link) : Cell(), optional_cell(nic.pci.numa_node),
               first ? vfs_cell(nic) : Cell(), nearest_cell(nic, gpus), used_by_cell(port.netdev, riders)});
    first = false;
  }
}

// "6 NICs (6 can make VFs, 8 VFs now), 8 GPUs".
std::string node_headline(const NodeFacts& facts) {
  size_t capable = 0;
  size_t vfs = 0;
  for (const Nic& nic : facts.nics) {
    capable += nic.total_vfs.value_or(0) > 0;
    vfs += nic.vfs.size();
  }
  const auto given = static_cast<size_t>(
      std::ranges::count_if(facts.nics, [](const Nic& nic) { return facts::is_vf_function(nic.pci); }));
  const size_t nics = facts.nics.size() - given;
  std::string text = fmt::format("node {}", facts.node.empty() ? "(without a name)" : doc::printable(facts.node));
  if (!facts.kernel.empty()) text += fmt::format(", kernel {}", doc::printable(facts.kernel));
  text += fmt::format(": {} NIC{}, {} can make VFs, {} VF{} now", nics, nics == 1 ? "" : "s", capable, vfs,
                      vfs == 1 ? "" : "s");
  if (given > 0) text += fmt::format(", {} VF{} without a PF here", given, given == 1 ? "" : "s");
  if (!facts.gpus.empty()) text += fmt::format(", {} GPU{}", facts.gpus.size(), facts.gpus.size() == 1 ? "" : "s");
  text += !facts.iommu ? ", IOMMU unknown" : *facts.iommu ? ", IOMMU on" : ", no IOMMU";
  if (!facts.rdma_netns_mode.empty()) text += fmt::format(", RDMA namespaces {}", facts.rdma_netns_mode);
  return text + "\n";
}

}  // namespace

std::string number_list(const std::vector<int>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end > i ? fmt::format("{}-{}", numbers[i], numbers[end]) : std::to_string(numbers[i]);
    i = end + 1;
  }
  return text;
}

Table nic_table(const NodeFacts& facts, Detail detail) {
  Table table({{"ROLE", "role"},
               {"PCI", "pci"},
               {"MODEL", "model"},
               {"NETDEV", "netdev"},
               {"RDMA", "rdma"},
               {"LINK", "link"},
               {"STATE", "state"},
               {"RATE", "rate", Align::kRight},
               {"MTU", "mtu", Align::kRight},
               {"PCIE", "pcie"},
               {"NUMA", "numa", Align::kRight},
               {"VFS", "vfs", Align::kRight},
               {"GPU", "gpu"},
               {"USED BY", "usedBy"}});
  const std::map<PciAddress, int> gpus = gpu_numbers(facts);
  const Riders riders = riders_of(facts);
  const std::vector<facts::NicRole> roles = facts::roles_of(facts);
  for (size_t i = 0; i < facts.nics.size(); ++i) add_ports(table, facts.nics[i], roles[i], detail, gpus, riders);
  return table;
}

Table card_table(const NodeFacts& facts) {
  Table table({{"PCI", "pci"},
               {"ID", "id"},
               {"DRIVER", "driver"},
               {"FIRMWARE", "firmware"},
               {"PCIE POSSIBLE", "pciePossible"},
               {"SLOT", "slot"},
               {"IOMMU", "iommuGroup", Align::kRight},
               {"ESWITCH", "eswitch"},
               {"DATA DIRECT", "dataDirect"},
               {"WHY THIS ROLE", "reason"}});
  const std::vector<facts::NicRole> roles = facts::roles_of(facts);
  for (size_t i = 0; i < facts.nics.size(); ++i) {
    const Nic& nic = facts.nics[i];
    const bool is_known = nic.pci.link && nic.pci.link->max_width > 0;
    table.row({nic.pci.address.to_string(), ids_of(nic.pci), nic.pci.driver, nic.firmware,
               is_known ? Cell(facts::pcie_possible(*nic.pci.link)) : Cell(), nic.pci.slot,
               optional_cell(nic.pci.iommu_group), std::string(eswitch_mode_name(nic.eswitch_mode)),
               optional_cell(nic.data_direct), roles[i].reason});
  }
  return table;
}

Table port_table(const NodeFacts& facts) {
  Table table({{"NETDEV", "netdev"},
               {"RDMA", "rdma"},
               {"PORT", "port", Align::kRight},
               {"MAC OR PORT GUID", "address"},
               {"LID", "lid", Align::kRight},
               {"PHYSICAL", "physicalState"},
               {"IPOIB QPN", "qpn"},
               {"RATE AS REPORTED", "rateText"},
               {"TRANSPORT", "transport"}});
  for (const Nic& nic : facts.nics)
    for (const facts::CardPort& port : facts::ports_of(nic)) {
      if (port.netdev == nullptr && port.rdma == nullptr) continue;
      const bool infiniband = port.rdma != nullptr && port.rdma->link_type == LinkType::kInfiniband;
      table.row({port.netdev != nullptr ? Cell(port.netdev->name) : Cell(),
                 port.device != nullptr ? Cell(rdma_text(*port.device)) : Cell(),
                 port.rdma != nullptr ? Cell(port.rdma->number) : Cell(), address_cell(port.netdev, port.rdma),
                 infiniband ? optional_cell(port.rdma->lid) : Cell(),
                 port.rdma != nullptr ? Cell(port.rdma->physical_state) : Cell(),
                 port.netdev != nullptr && port.netdev->ipoib ? Cell(fmt::format("0x{:06x}", port.netdev->ipoib->qpn))
                                                              : Cell(),
                 port.rdma != nullptr ? Cell(port.rdma->rate_text) : Cell(),
                 port.device != nullptr ? Cell(port.device->transport) : Cell()});
    }
  return table;
}

namespace {

// The node GUID that the PF set. A VF with a port GUID alone has none that fabrics accept, and a tool that writes the
// bytes in the other order gives it one that no plan has.
Cell node_guid_cell(const Vf& vf) {
  if (!vf.node_guid) return vf.port_guid ? Cell("unset", Paint::kWarning) : Cell();
  const std::optional<Guid> own = vf.rdma ? vf.rdma->node_guid : std::nullopt;
  if (own && *own != *vf.node_guid && own->value == __builtin_bswap64(vf.node_guid->value))
    return {vf.node_guid->to_string() + " (reversed)", Paint::kBad};
  return vf.node_guid->to_string();
}

}  // namespace

Table vf_table(const NodeFacts& facts) {
  Table table({{"PF", "pf"},
               {"VF", "vf", Align::kRight},
               {"PCI", "pci"},
               {"DRIVER", "driver"},
               {"NETDEV", "netdev"},
               {"RDMA", "rdma"},
               {"STATE", "state"},
               {"MTU", "mtu", Align::kRight},
               {"IOMMU", "iommuGroup", Align::kRight},
               {"MAC OR PORT GUID", "address"},
               {"SET BY PF", "admin"},
               {"NODE GUID BY PF", "adminNodeGuid"},
               {"VLAN", "vlan"},
               {"LINK", "linkState"},
               {"SPOOFCHK", "spoofCheck"},
               {"TRUST", "trust"},
               {"QUERY RSS", "queryRss"},
               {"USED BY", "usedBy"}});
  Riders riders = riders_of(facts);
  auto on_off = [](const std::optional<bool>& flag) { return flag ? Cell(*flag ? "on" : "off") : Cell(); };
  for (const Nic& nic : facts.nics)
    for (const Vf& vf : nic.vfs) {
      const NetInterface* netdev = vf.netdev ? &*vf.netdev : nullptr;
      const RdmaPort* port = vf.rdma && !vf.rdma->ports.empty() ? &vf.rdma->ports.front() : nullptr;
      Cell vlan;
      if (vf.vlan.value_or(0) != 0)
        vlan = fmt::format("{}{}{}", *vf.vlan, vf.vlan_qos.value_or(0) != 0 ? fmt::format("/{}", *vf.vlan_qos) : "",
                           vf.vlan_proto == "802.1ad" ? " 802.1ad" : "");
      table.row(
          {nic.netdevs.empty() ? nic.pci.address.to_string() : nic.netdevs.front().name, vf.index.value,
           vf.pci.address.to_string(), vf.pci.driver.empty() ? Cell("none", Paint::kWarning) : Cell(vf.pci.driver),
           netdev != nullptr ? Cell(netdev->name) : Cell(), vf.rdma ? Cell(rdma_text(*vf.rdma)) : Cell(),
           state_cell(netdev, port), mtu_cell(netdev), optional_cell(vf.pci.iommu_group), address_cell(netdev, port),
           vf.port_guid ? Cell(vf.port_guid->to_string()) : optional_cell(vf.admin_mac), node_guid_cell(vf), vlan,
           vf.link_state, on_off(vf.spoof_check), on_off(vf.trust), on_off(vf.query_rss),
           used_by_cell(netdev, riders)});
    }
  return table;
}

Table fabric_table(const NodeFacts& facts) {
  Table table({{"FABRIC", "fabric"},
               {"SUBNET PREFIX", "subnetPrefix"},
               {"SM LID", "smLid", Align::kRight},
               {"PORTS", "ports"}});
  for (const facts::Fabric& fabric : facts.fabrics)
    table.row(
        {fabric.name, Guid{fabric.subnet_prefix}.to_string(), optional_cell(fabric.sm_lid), joined(fabric.ports, " ")});
  return table;
}

Table gpu_table(const NodeFacts& facts) {
  Table table({{"GPU", "gpu", Align::kRight},
               {"PCI", "pci"},
               {"MODEL", "model"},
               {"NUMA", "numa", Align::kRight},
               {"CPUS", "cpus"},
               {"PCIE", "pcie"},
               {"SLOT", "slot"},
               {"DRIVER", "driver"}});
  int number = 0;
  for (const facts::Gpu& gpu : facts.gpus) {
    const std::string model = facts::short_model(gpu.pci.model);
    const auto node = std::ranges::find_if(facts.numa_nodes, [&](const facts::NumaNode& one) {
      return gpu.pci.numa_node == one.number || (!gpu.pci.numa_node && facts.numa_nodes.size() == 1);
    });
    table.row({number++, gpu.pci.address.to_string(), model.empty() ? ids_of(gpu.pci) : model,
               optional_cell(gpu.pci.numa_node), node == facts.numa_nodes.end() ? Cell() : Cell(node->cpus),
               pcie_cell(gpu.pci.link), gpu.pci.slot, gpu.pci.driver});
  }
  return table;
}

Table path_table(const NodeFacts& facts) {
  std::vector<Column> columns = {{"PATH", "nic"}};
  for (size_t i = 0; i < facts.gpus.size(); ++i) columns.push_back({fmt::format("GPU{}", i), fmt::format("gpu{}", i)});
  Table table(std::move(columns));
  for (const Nic& nic : facts.nics) {
    const bool is_known = !nic.gpus.empty() && !nic.gpus.front().kind.empty();  // the nearest one
    if (facts::hardware_port(nic) == nullptr || !is_known) continue;
    const auto device = std::ranges::find(nic.rdma, false, &RdmaDevice::soft);
    std::vector<Cell> cells = {device->name};
    for (const facts::Gpu& gpu : facts.gpus) {
      const auto path = std::ranges::find(nic.gpus, gpu.pci.address, &GpuPath::gpu);
      const std::string kind = path == nic.gpus.end() ? "" : path->kind;
      cells.emplace_back(kind, kind == "PIX" || kind == "PXB" ? Paint::kGood : Paint::kNone);
    }
    table.row(std::move(cells));
  }
  return table;
}

Table gid_table(const NodeFacts& facts) {
  Table table({{"RDMA", "rdma"},
               {"PORT", "port", Align::kRight},
               {"INDEX", "index", Align::kRight},
               {"GID", "gid"},
               {"TYPE", "type"},
               {"NETDEV", "netdev"}});
  auto add = [&](const RdmaDevice& device) {
    for (const RdmaPort& port : device.ports)
      for (const facts::GidEntry& gid : port.gids)
        table.row({rdma_text(device), port.number, gid.index, gid.gid.to_string(), gid.type, gid.netdev});
  };
  for (const Nic& nic : facts.nics) {
    for (const RdmaDevice& device : nic.rdma) add(device);
    for (const Vf& vf : nic.vfs)
      if (vf.rdma) add(*vf.rdma);
  }
  for (const RdmaDevice& device : facts.virtual_rdma) add(device);
  return table;
}

Table virtual_table(const NodeFacts& facts) {
  Table table({{"WITHOUT A PCI FUNCTION", "name"},
               {"KIND", "kind"},
               {"LINK", "link"},
               {"STATE", "state"},
               {"RATE", "rate", Align::kRight},
               {"MTU", "mtu", Align::kRight},
               {"MASTER", "master"},
               {"BOARD", "board"},
               {"FIRMWARE", "firmware"}});
  for (const RdmaDevice& device : facts.virtual_rdma)
    for (const RdmaPort& port : device.ports)
      table.row({fmt::format("{}/{}", device.name, port.number), device.soft ? "soft RDMA" : "RDMA",
                 link_text(port.link_type), state_cell(nullptr, &port), rate_cell(nullptr, &port, device.soft), Cell(),
                 Cell(), device.board_id, device.firmware});
  for (const NetInterface& netdev : facts.virtual_netdevs)
    table.row({netdev.name, netdev.kind, Cell(), state_cell(&netdev, nullptr), rate_cell(&netdev, nullptr, false),
               mtu_cell(&netdev), netdev.master});
  return table;
}

namespace {

// What the files at hand lack, so that its absence is not taken for a fact.
std::string unavailable_text(const NodeFacts& facts) {
  if (facts.unavailable.empty()) return {};
  std::vector<std::string> names;
  for (const auto& name : facts.unavailable) names.push_back(doc::printable(name));
  // PCI functions have a line of advice of their own.
  const bool hides_use = facts.unavailable.front() != facts::kPciFunctions;
  return fmt::format("Not available from these files: {}.{}\n", listed(names, "and"),
                     hides_use ? " The host's own use of devices is then not shown." : "");
}

}  // namespace

std::string node_text(const NodeFacts& facts, Detail detail, Colour colour) {
  std::string text = node_headline(facts);
  auto add = [&](const Table& table) {
    if (!table.empty()) text += "\n" + table.to_text(colour);
  };
  add(nic_table(facts, detail));
  if (detail == Detail::kWide) {
    add(card_table(facts));
    add(port_table(facts));
    add(vf_table(facts));
  }
  add(fabric_table(facts));
  add(gpu_table(facts));
  add(path_table(facts));
  if (detail == Detail::kWide) add(gid_table(facts));
  if (detail == Detail::kWide || !facts.virtual_rdma.empty()) add(virtual_table(facts));
  if (const std::vector<findings::Finding> troubles = facts::troubles_of(facts); !troubles.empty()) {
    text += "\nProblems:\n";
    for (const findings::Finding& trouble : troubles) text += fmt::format("  - {}\n", findings::to_line(trouble));
  }
  if (const std::string unavailable = unavailable_text(facts); !unavailable.empty()) text += "\n" + unavailable;
  const std::vector<std::string> advice = facts::sriov_advice(facts);
  if (!advice.empty()) text += "\n";
  for (size_t i = 0; i < advice.size(); ++i) text += (i == 0 ? "" : "  - ") + doc::printable(advice[i]) + "\n";
  return text;
}

}  // namespace railbed::report
