// SPDX-License-Identifier: Apache-2.0
#include "facts/pci.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"

namespace railbed::facts {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr int kMostVfs = 0xffff;  // NumVFs and TotalVFs are registers of 16 bits (PCIe 9.3.3)

// "15b3" from "0x15b3", "15B3" or "15b3"; shorter numbers get leading zeros.
std::string id_text(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::string id = lower(text);
  const bool is_id = !id.empty() && id.size() <= 4 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_id ? std::string(4 - id.size(), '0') + id : std::string();
}

// "0207" from "20700" (uevent) or "0x020700" (class), without the programming interface.
std::string class_text(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::string code = lower(text);
  if (code.empty() || code.size() > 6 || code.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  if (code.size() < 6) code = std::string(6 - code.size(), '0') + code;
  return code.substr(0, 4);
}

// Fills ids, class and driver from the uevent file. False when the kernel or the recording has no such file.
bool read_uevent(std::string_view text, PciDevice& device) {
  bool has_class = false;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view key = line.substr(0, equals);
    std::string_view value = line.substr(equals + 1);
    if (key == "DRIVER") {
      device.driver = value;
    } else if (key == "PCI_CLASS") {
      device.class_code = class_text(value);
      has_class = true;
    } else if (key == "PCI_ID" || key == "PCI_SUBSYS_ID") {
      size_t colon = value.find(':');
      if (colon == std::string_view::npos) continue;
      (key == "PCI_ID" ? device.vendor : device.subsystem_vendor) = id_text(value.substr(0, colon));
      (key == "PCI_ID" ? device.device : device.subsystem_device) = id_text(value.substr(colon + 1));
    }
  }
  return has_class && !device.vendor.empty();
}

void read_ids(Attributes& attributes, const std::string& folder, PciDevice& device) {
  if (std::optional<std::string> uevent = attributes.text(folder + "/uevent"))
    if (read_uevent(*uevent, device)) return;
  device.class_code = class_text(attributes.text(folder + "/class").value_or(""));
  device.vendor = id_text(attributes.text(folder + "/vendor").value_or(""));
  device.device = id_text(attributes.text(folder + "/device").value_or(""));
  device.subsystem_vendor = id_text(attributes.text(folder + "/subsystem_vendor").value_or(""));
  device.subsystem_device = id_text(attributes.text(folder + "/subsystem_device").value_or(""));
  device.driver = attributes.link_name(folder + "/driver");
}

std::optional<int> iommu_group(Attributes& attributes, const std::string& folder) {
  std::string group = attributes.link_name(folder + "/iommu_group");
  std::optional<int64_t> number = group.empty() ? std::nullopt : parse_number(group);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

// A VF hangs off the same bridge and NUMA node as its PF (drivers/pci/iov.c, pci_iov_add_virtfn).
void place_vf(Attributes& attributes, const std::string& folder, const PciDevice& pf, PciDevice& vf) {
  vf.numa_node = pf.numa_node;
  vf.bridges = pf.bridges;
  vf.iommu_group = iommu_group(attributes, folder);
}

// Attributes that are read only for functions of interest.
void read_place(Attributes& attributes, const std::string& folder, PciDevice& device) {
  std::optional<int> node = attributes.small_number(folder + "/numa_node");
  if (node && *node >= 0) device.numa_node = node;
  device.iommu_group = iommu_group(attributes, folder);
  if (std::optional<std::string> path = attributes.link(folder)) {
    device.bridges = pci_addresses(*path);
    if (!device.bridges.empty() && device.bridges.back() == device.address) device.bridges.pop_back();
  }
}

std::string parent_folder(const PciDevice& device) {
  return device.bridges.empty() ? std::string() : fmt::format("{}/{}", kDevices, device.bridges.back());
}

// The link of the slot: of a VF in a guest, and of functions inside the root complex, the width is 0.
void read_link_state(Attributes& attributes, const std::string& folder, PciDevice& device) {
  PcieLink link{.speed_gts = pcie_speed_gts(attributes.text(folder + "/current_link_speed").value_or("")),
                .width = attributes.small_number(folder + "/current_link_width").value_or(0),
                .max_speed_gts = 0,
                .max_width = 0,
                .peer_max_speed_gts = std::nullopt,
                .peer_max_width = std::nullopt};
  if (link.speed_gts <= 0 || link.width <= 0 || link.width > 32) return;
  link.max_speed_gts = pcie_speed_gts(attributes.text(folder + "/max_link_speed").value_or(""));
  link.max_width = attributes.small_number(folder + "/max_link_width").value_or(0);
  const std::string above = parent_folder(device);
  if (!above.empty() && (link.speed_gts < link.max_speed_gts || link.width < link.max_width)) {
    if (double speed = pcie_speed_gts(attributes.text(above + "/max_link_speed").value_or("")); speed > 0)
      link.peer_max_speed_gts = speed;
    link.peer_max_width = attributes.small_number(above + "/max_link_width");
  }
  device.link = link;
}

// The switches above NICs and GPUs. `bridges` is the root port, then the upstream and the downstream port of each
// switch; an upstream port's own link is the switch's uplink.
std::vector<PciSwitch> read_switches(Attributes& attributes, const PciScan& scan) {
  std::map<PciAddress, PciDevice> uplinks;
  const auto add_above = [&](const PciDevice& device) {
    for (size_t i = 1; i < device.bridges.size(); i += 2)
      uplinks.try_emplace(device.bridges[i],
                          PciDevice{.address = device.bridges[i], .bridges = {device.bridges[i - 1]}});
  };
  for (const PciDevice& device : scan.network)
    if (!scan.vfs.contains(device.address)) add_above(device);
  for (const PciDevice& device : scan.accelerators) add_above(device);
  std::vector<PciSwitch> switches;
  for (auto& [address, uplink] : uplinks) {
    read_link_state(attributes, fmt::format("{}/{}", kDevices, address), uplink);
    if (uplink.link) switches.push_back({.address = address, .link = *uplink.link});
  }
  return switches;
}

// Slot names by "0000:1a:00", the address without a function.
std::map<std::string, std::string> slot_names(Attributes& attributes) {
  std::map<std::string, std::string> names;
  for (const std::string& name : attributes.list("/sys/bus/pci/slots"))
    if (auto address = attributes.text("/sys/bus/pci/slots/" + name + "/address")) names.emplace(*address, name);
  return names;
}

// The name of the slot that the function, or a switch of its card, sits in.
std::string slot_of(const std::map<std::string, std::string>& names, const PciDevice& device) {
  const auto named = [&](const PciAddress& address) {
    const std::string text = address.to_string();
    const auto at = names.find(text.substr(0, text.find('.')));
    return at == names.end() ? std::string() : at->second;
  };
  if (std::string name = named(device.address); !name.empty()) return name;
  return device.bridges.empty() ? std::string() : named(device.bridges.back());
}

std::optional<uint32_t> unsigned_number(std::optional<int64_t> number) {
  if (!number || *number < 0 || *number > 0xffff'ffff) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

// The address of VF `index`: computed from offset and stride (PCIe 9.2.1.2) where such a function exists, which saves
// reading a link per VF; otherwise from the link.
std::optional<PciAddress> vf_address(Attributes& attributes, const PciAddress& pf, const std::string& folder,
                                     const SriovState& state, int index, const std::set<PciAddress>& present) {
  if (state.vf_offset && state.vf_stride) {
    PciAddress computed = pf.plus(*state.vf_offset + static_cast<uint32_t>(index) * *state.vf_stride);
    if (present.contains(computed)) return computed;
  }
  std::optional<std::string> target = attributes.link(fmt::format("{}/virtfn{}", folder, index));
  return target ? last_pci_address(*target) : std::nullopt;
}

// The value, or the nearest one that a card can have, with a line about it.
int within(Attributes& attributes, const PciAddress& pf, std::string_view what, int64_t reported, int64_t most) {
  const int64_t taken = std::clamp<int64_t>(reported, 0, most);
  if (taken != reported)
    attributes.note(fmt::format("{} of {} is {}, which is not possible for this card (0 to {}); using {}", what, pf,
                                reported, most, taken));
  return static_cast<int>(taken);
}

std::optional<SriovState> read_sriov(Attributes& attributes, const PciAddress& pf, const std::string& folder,
                                     const std::set<PciAddress>& present) {
  const std::optional<int64_t> total = attributes.number(folder + "/sriov_totalvfs");
  if (!total) return std::nullopt;
  SriovState state;
  state.total_vfs = within(attributes, pf, "sriov_totalvfs", *total, kMostVfs);
  const int64_t most = *state.total_vfs > 0 ? *state.total_vfs : kMostVfs;
  state.num_vfs = within(attributes, pf, "sriov_numvfs", attributes.number(folder + "/sriov_numvfs").value_or(0), most);
  if (std::optional<int> probe = attributes.small_number(folder + "/sriov_drivers_autoprobe"))
    state.autoprobe = *probe != 0;
  state.vf_offset = unsigned_number(attributes.number(folder + "/sriov_offset"));
  state.vf_stride = unsigned_number(attributes.number(folder + "/sriov_stride"));
  if (std::optional<std::string> id = attributes.text(folder + "/sriov_vf_device"); id && !id->empty())
    state.vf_device = id_text(*id);
  if (state.num_vfs == 0) return state;
  for (int index = 0; index < state.num_vfs; ++index)
    if (std::optional<PciAddress> vf = vf_address(attributes, pf, folder, state, index, present))
      state.vfs.emplace(index, *vf);
  return state;
}

}  // namespace

double pcie_speed_gts(const std::string& text) {
  if (text.find("GT/s") == std::string::npos) return 0;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == ' ' && value > 0 && value < 1000 ? value : 0;
}

PciKind pci_kind(std::string_view class_code, std::string_view vendor, std::string_view device) {
  if (class_code.starts_with("02") || class_code == "0c06") return PciKind::kNetwork;
  if (class_code.starts_with("12")) {
    // Xilinx, Altera, Intel: FPGAs have this class too.
    constexpr std::array<std::string_view, 3> kFpgas = {"10ee", "1172", "8086"};
    return std::ranges::find(kFpgas, vendor) == kFpgas.end() ? PciKind::kAccelerator : PciKind::kOther;
  }
  if (!class_code.starts_with("03")) return PciKind::kOther;
  if (class_code == "0300") {
    // A VGA controller is the screen of a management chip or of a virtual machine, but for these vendors' graphics
    // cards: NVIDIA, AMD, Intel, Moore Threads, MetaX. AMD (ATI) made management chips' screens as well.
    constexpr std::array<std::string_view, 5> kCards = {"10de", "1002", "8086", "1ed5", "9999"};
    constexpr std::array<std::string_view, 4> kAtiScreens = {"515e", "5159", "4752", "4758"};
    const bool is_card = std::ranges::find(kCards, vendor) != kCards.end() &&
                         !(vendor == "1002" && std::ranges::find(kAtiScreens, device) != kAtiScreens.end());
    return is_card ? PciKind::kAccelerator : PciKind::kOther;
  }
  // Matrox, QEMU, QXL, VMware, virtio, Hyper-V, VirtualBox show theirs as display controllers.
  constexpr std::array<std::string_view, 8> kScreens = {"1a03", "102b", "1234", "1b36", "15ad", "1af4", "1414", "80ee"};
  return std::ranges::find(kScreens, vendor) == kScreens.end() ? PciKind::kAccelerator : PciKind::kOther;
}

bool is_data_direct(const PciDevice& device) {
  return device.vendor == "15b3" && device.device == "2100";
}

PciScan scan_pci(Attributes& attributes, const std::set<PciAddress>& with_children, Detail detail) {
  PciScan scan;
  std::map<PciAddress, size_t> positions;  // positions in scan.network, without VFs
  std::set<PciAddress> addresses;
  for (const std::string& name : attributes.list(std::string(kDevices))) {
    Result<PciAddress> address = PciAddress::parse(name);
    if (address) addresses.insert(*address);
  }
  std::map<std::string, std::string> slots;
  if (detail == Detail::kAll) slots = slot_names(attributes);
  const auto devices = attributes.hold(kDevices);
  // In order of addresses: a PF's routing id is below those of its VFs, so it is read before them.
  for (const PciAddress& address : addresses) {
    std::string folder = fmt::format("{}/{}", kDevices, address);
    PciDevice device{.address = address};
    read_ids(attributes, folder, device);
    PciKind kind = pci_kind(device.class_code, device.vendor, device.device);
    if (with_children.contains(address)) kind = PciKind::kNetwork;
    if (is_data_direct(device)) {
      read_place(attributes, folder, device);
      scan.data_direct.push_back(std::move(device));
      continue;
    }
    if (kind == PciKind::kOther) continue;
    if (kind == PciKind::kAccelerator) {
      if (attributes.link(folder + "/physfn")) continue;
      read_place(attributes, folder, device);
      if (detail == Detail::kAll) read_link_state(attributes, folder, device);
      device.slot = slot_of(slots, device);
      scan.accelerators.push_back(std::move(device));
      continue;
    }
    if (auto pf = scan.vfs.find(address); pf != scan.vfs.end()) {
      place_vf(attributes, folder, scan.network[positions.at(pf->second)], device);
      scan.network.push_back(std::move(device));
      continue;
    }
    const auto held = attributes.hold(folder);
    read_place(attributes, folder, device);
    if (detail == Detail::kAll) read_link_state(attributes, folder, device);
    device.slot = slot_of(slots, device);
    positions.emplace(address, scan.network.size());
    scan.network.push_back(std::move(device));
    if (std::optional<SriovState> state = read_sriov(attributes, address, folder, addresses)) {
      for (const auto& [index, vf] : state->vfs) scan.vfs.emplace(vf, address);
      scan.sriov.emplace(address, std::move(*state));
    } else if (attributes.link(folder + "/physfn")) {
      scan.orphans.insert(address);
    }
  }
  if (detail == Detail::kAll) scan.switches = read_switches(attributes, scan);
  return scan;
}

}  // namespace railbed::facts
