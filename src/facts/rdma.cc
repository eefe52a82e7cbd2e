// SPDX-License-Identifier: Apache-2.0
#include "facts/rdma.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "facts/natural_order.h"
#include "facts/net.h"
#include "facts/parallel.h"

namespace railbed::facts {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband/";
constexpr int kEmptyRoceGidsTolerated = 4;

template <typename T>
std::optional<T> parsed(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  Result<T> value = T::parse(*text);
  return value ? std::optional<T>(*value) : std::nullopt;
}

// The character devices of each RDMA device, from /sys/class/infiniband_verbs/uverbs0/ibdev and the like. Each umadN
// has an issmN.
std::map<std::string, std::vector<std::string>> char_devices(Attributes& attributes) {
  std::vector<std::string> paths;
  std::set<std::string> issms;
  for (const char* folder : {"/sys/class/infiniband_mad/", "/sys/class/infiniband_verbs/"})
    for (const std::string& name : attributes.list(folder)) {
      if (name.starts_with("issm")) issms.insert(name);
      if (name.starts_with("umad") || name.starts_with("uverbs")) paths.push_back(folder + name);
    }
  std::vector<std::string> devices(paths.size());
  read_each(attributes, paths.size(),
            [&](Attributes& own, size_t i) { devices[i] = own.text(paths[i] + "/ibdev").value_or(""); });
  std::map<std::string, std::vector<std::string>> found;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (devices[i].empty()) continue;
    std::string name = paths[i].substr(paths[i].rfind('/') + 1);
    std::string issm = name.starts_with("umad") ? "issm" + name.substr(4) : "";
    if (issms.contains(issm)) found[devices[i]].push_back(issm);
    found[devices[i]].push_back(name);
  }
  return found;
}

class PortReader {
 public:
  PortReader(Attributes& attributes, std::string folder, bool whole_tables)
      : attributes_(attributes), folder_(std::move(folder)), whole_tables_(whole_tables) {}

  // Fills from sysfs what netlink did not report about the port.
  void complete(RdmaPort& port) {
    if (port.state.empty()) port.state = after_number(text("state").value_or(""));
    if (port.physical_state.empty()) port.physical_state = after_number(text("phys_state").value_or(""));
    if (port.link_type == LinkType::kUnknown) port.link_type = link_type_of(text("link_layer").value_or(""));
    port.rate_text = text("rate").value_or("");
    port.rate_gbps = rate_gbps(port.rate_text);
    read_gids(port);
    if (port.link_type == LinkType::kEthernet) return;
    if (!port.lid) port.lid = attributes_.small_number(folder_ + "/lid");
    if (!port.sm_lid) port.sm_lid = attributes_.small_number(folder_ + "/sm_lid");
    read_pkeys(port);
    if (port.gids.empty() || port.gids.front().index != 0) return;
    const Gid& gid = port.gids.front().gid;
    if (!port.subnet_prefix) port.subnet_prefix = gid.subnet_prefix();
    port.port_guid = gid.interface_id();
  }

  // The first interface that an entry of the GID table names.
  std::string gid_netdev() {
    for (const std::string& index : attributes_.list(folder_ + "/gid_attrs/ndevs"))
      if (std::optional<std::string> name = text("gid_attrs/ndevs/" + index); name && !name->empty()) return *name;
    return {};
  }

 private:
  std::optional<std::string> text(const std::string& name) { return attributes_.text(folder_ + "/" + name); }

  void read_gids(RdmaPort& port) {
    int empty = 0;
    bool infiniband = port.link_type == LinkType::kInfiniband;
    for (int index = 0; whole_tables_ || (infiniband ? index < 1 : empty < kEmptyRoceGidsTolerated); ++index) {
      std::string name = std::to_string(index);
      std::optional<std::string> line = text("gids/" + name);
      if (!line) return;  // the end of the table
      std::optional<Gid> gid = parsed<Gid>(line);
      // Kernels fill unused entries with zeros, or with the bare prefix.
      if (!gid || gid->interface_id().is_zero()) {
        if (index == 0 && gid && !gid->is_zero() && !port.subnet_prefix)
          port.subnet_prefix = gid->subnet_prefix();  // a port without a GUID still has a prefix
        ++empty;
        continue;
      }
      empty = 0;
      GidEntry entry{.index = index, .gid = *gid};
      if (infiniband) {
        entry.type = "IB";
      } else {
        entry.type = text("gid_attrs/types/" + name).value_or("");
        if (entry.type == "IB/RoCE v1") entry.type = "RoCE v1";
        entry.netdev = text("gid_attrs/ndevs/" + name).value_or("");
      }
      port.gids.push_back(std::move(entry));
    }
  }

  void read_pkeys(RdmaPort& port) {
    for (int index = 0;; ++index) {
      std::optional<int> key = attributes_.small_number(folder_ + "/pkeys/" + std::to_string(index));
      if (!key) return;
      if (*key != 0) {
        port.pkeys.push_back(*key);
      } else if (!whole_tables_) {
        return;
      }
    }
  }

  Attributes& attributes_;
  std::string folder_;
  bool whole_tables_;
};

// Translates netlink's spelling into that of sysfs.
std::string sysfs_spelling(const std::string& state) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {{
      {"SLEEP", "Sleep"},
      {"POLLING", "Polling"},
      {"DISABLED", "Disabled"},
      {"ARMED", "PortConfigurationTraining"},
      {"LINK_UP", "LinkUp"},
      {"LINK_ERROR_RECOVER", "LinkErrorRecovery"},
      {"PHY_TEST", "Phy Test"},
  }};
  for (const auto& [netlink, sysfs] : kNames)
    if (state == netlink) return std::string(sysfs);
  return state;
}

LinkType link_type_of_protocol(std::string_view protocol) {
  if (protocol == "ib") return LinkType::kInfiniband;
  return protocol == "roce" || protocol == "iw" ? LinkType::kEthernet : LinkType::kUnknown;
}

RdmaDevice from_netlink(const os::RdmaLink& link) {
  RdmaDevice device{.name = link.name, .firmware = link.firmware};
  if (!link.node_guid.is_zero()) device.node_guid = link.node_guid;
  if (!link.system_image_guid.is_zero()) device.system_image_guid = link.system_image_guid;
  for (const os::RdmaLinkPort& port : link.ports)
    device.ports.push_back({.number = port.number,
                            .state = port.state,
                            .physical_state = sysfs_spelling(port.physical_state),
                            .lid = port.lid,
                            .sm_lid = port.sm_lid,
                            .subnet_prefix = port.subnet_prefix});
  // The device's protocol is that of its first port; a card can have ports of both kinds.
  if (device.ports.size() == 1) device.ports.front().link_type = link_type_of_protocol(link.protocol);
  return device;
}

void read_device(Attributes& attributes, const std::string& folder, RdmaDevice& device) {
  if (!device.node_guid) device.node_guid = parsed<Guid>(attributes.text(folder + "/node_guid"));
  if (!device.system_image_guid) device.system_image_guid = parsed<Guid>(attributes.text(folder + "/sys_image_guid"));
  if (device.firmware.empty()) device.firmware = attributes.text(folder + "/fw_ver").value_or("");
  if (!device.ports.empty()) return;
  for (const std::string& name : attributes.list(folder + "/ports"))
    if (std::optional<int64_t> number = parse_number(name))
      device.ports.push_back({.number = static_cast<int>(*number)});
}

// iWARP is RDMA over TCP: its ports say Ethernet, and nothing that speaks RoCE can talk to them. Without netlink and
// node_type (recordings have none of a device with a PCI function) Intel's driver decides: its RoCE is version 2 only,
// and the GIDs of iWARP carry the name of version 1.
bool speaks_iwarp(Attributes& attributes, const FoundRdma& found, const std::string& folder, const os::RdmaLink* link) {
  if (link != nullptr && !link->protocol.empty()) return link->protocol == "iw";
  if (!found.pci || found.facts.ports.empty()) return false;
  const RdmaPort& port = found.facts.ports.front();
  if (port.link_type != LinkType::kEthernet) return false;
  if (attributes.text(folder + "/node_type").value_or("").ends_with("RNIC")) return true;
  return found.facts.name.starts_with("irdma") && !port.gids.empty() &&
         std::ranges::all_of(port.gids, [](const GidEntry& gid) { return gid.type == "RoCE v1"; });
}

FoundRdma read_found(Attributes& attributes, const RdmaName& name, const os::RdmaLink* link, bool whole) {
  FoundRdma found{.facts = link != nullptr ? from_netlink(*link) : RdmaDevice{.name = name.name}, .pci = name.pci};
  const std::string& folder = name.folder;
  read_device(attributes, folder, found.facts);
  if (whole) found.facts.board_id = attributes.text(folder + "/board_id").value_or("");
  if (link != nullptr && !link->ports.empty()) found.netdev = link->ports.front().netdev_name;
  if (link != nullptr)
    for (size_t i = 0; i < link->ports.size(); ++i) found.facts.ports[i].netdev = link->ports[i].netdev_name;
  for (RdmaPort& port : found.facts.ports) {
    PortReader reader(attributes, fmt::format("{}/ports/{}", folder, port.number), whole);
    reader.complete(port);
    if (found.netdev.empty() && !name.pci) found.netdev = reader.gid_netdev();
    for (const GidEntry& gid : port.gids)
      if (port.netdev.empty()) port.netdev = gid.netdev;
  }
  if (speaks_iwarp(attributes, found, folder, link)) found.facts.transport = "iWARP";
  if (name.pci) return found;
  // rxe names its interface in `parent`; siw has no such file.
  std::optional<std::string> parent = attributes.text(folder + "/parent");
  if (parent && found.netdev.empty()) found.netdev = *parent;
  found.facts.soft = name.is_virtual || parent.has_value();
  if (parent) found.facts.driver = "rxe";
  if (found.facts.soft && !parent && attributes.text(folder + "/node_type").value_or("").ends_with("RNIC"))
    found.facts.driver = "siw";
  return found;
}

}  // namespace

std::string after_number(std::string_view text) {
  size_t colon = text.find(": ");
  return std::string(colon == std::string_view::npos ? text : text.substr(colon + 2));
}

std::optional<double> rate_gbps(std::string_view text) {
  std::string number(text.substr(0, text.find(' ')));
  if (number.empty() || text.find("Gb/sec") == std::string_view::npos) return std::nullopt;
  char* end = nullptr;
  double value = std::strtod(number.c_str(), &end);
  if (*end != '\0' || !(value >= 0) || value > 1e6) return std::nullopt;
  return value;
}

LinkType link_type_of(std::string_view link_layer) {
  if (link_layer == "InfiniBand") return LinkType::kInfiniband;
  if (link_layer == "Ethernet") return LinkType::kEthernet;
  return LinkType::kUnknown;
}

int roce_mtu(int netdev_mtu) {
  constexpr int kHeaders = 40 + 8 + 12 + 4 + 28 + 4;  // GRH, UDP, BTH, XRC, atomic, ICRC
  for (int mtu : {4096, 2048, 1024, 512, 256})
    if (netdev_mtu - kHeaders >= mtu) return mtu;
  return 0;
}

std::string rdma_driver(std::string_view pci_driver) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOthers = {{{"bnxt_en", "bnxt_re"},
                                                                                     {"ice", "irdma"},
                                                                                     {"i40e", "irdma"},
                                                                                     {"iavf", "irdma"},
                                                                                     {"ib_qib", "qib"},
                                                                                     {"cxgb4", "iw_cxgb4"}}};
  for (const auto& [pci, rdma] : kOthers)
    if (pci_driver == pci) return std::string(rdma);
  if (pci_driver.ends_with("_core")) pci_driver.remove_suffix(5);
  return std::string(pci_driver);
}

std::vector<RdmaName> rdma_names(Attributes& attributes) {
  std::vector<std::string> listed = attributes.list("/sys/class/infiniband");
  std::vector<RdmaName> names(listed.size());
  read_each(attributes, listed.size(), [&](Attributes& own, size_t i) {
    std::string folder = std::string(kClass) + listed[i];
    std::optional<std::string> path = own.link(folder);
    // The kernel resolves the folder itself faster than a path through the link, and there can be a thousand of them.
    if (path && path->starts_with("../../devices/")) folder = "/sys" + path->substr(5);
    if (!path) path = own.link(folder + "/device");
    names[i] = {.name = listed[i],
                .folder = folder,
                .pci = path && !through_subfunction(*path) ? last_pci_address(*path) : std::nullopt,
                .is_virtual = path && path->find("/virtual/") != std::string::npos};
  });
  for (const auto& [name, pci] : attributes.children_of_functions("infiniband"))
    names.push_back(
        {.name = name, .folder = fmt::format("/sys/bus/pci/devices/{}/infiniband/{}", pci, name), .pci = pci});
  return names;
}

std::vector<FoundRdma> scan_rdma(Attributes& attributes, os::RdmaPort* port, const std::vector<RdmaName>& names,
                                 const std::unordered_map<PciAddress, PciAddress>& vfs) {
  std::map<std::string, os::RdmaLink> links;
  if (port != nullptr) {
    if (auto listed = port->list()) {
      for (os::RdmaLink& link : *listed) links.emplace(link.name, std::move(link));
    } else {
      attributes.note(listed.error());
    }
  }
  std::map<std::string, std::vector<std::string>> nodes = char_devices(attributes);
  std::vector<FoundRdma> read(names.size());
  read_each(attributes, names.size(), [&](Attributes& own, size_t i) {
    auto link = links.find(names[i].name);
    bool whole = !names[i].is_virtual && !(names[i].pci && vfs.contains(*names[i].pci));
    read[i] = read_found(own, names[i], link == links.end() ? nullptr : &link->second, whole);
  });
  std::vector<FoundRdma> found;
  found.reserve(read.size());
  for (FoundRdma& one : read) {
    if (one.facts.ports.empty() && !links.contains(one.facts.name)) continue;
    if (auto at = nodes.find(one.facts.name); at != nodes.end()) one.facts.char_devices = std::move(at->second);
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace railbed::facts
