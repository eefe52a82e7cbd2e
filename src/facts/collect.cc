// SPDX-License-Identifier: Apache-2.0
#include "facts/collect.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>

#include "facts/assemble.h"
#include "facts/attributes.h"
#include "facts/fabrics.h"
#include "facts/facts_json.h"
#include "facts/gpu_paths.h"
#include "facts/kubelet.h"
#include "facts/labels.h"
#include "facts/net.h"
#include "facts/pci.h"
#include "facts/pci_ids.h"
#include "facts/platform.h"
#include "facts/rdma.h"
#include "facts/sriov_advice.h"
#include "facts/subnets.h"
#include "facts/vf_drivers.h"
#include "os/netlink/devlink.h"

namespace railbed::facts {
namespace {

// The modules that decide what a node can do with VFs and RDMA.
constexpr std::array kModules = {
    "8021q",     "amdgpu",      "bnxt_en",   "bnxt_re",        "bonding",     "gdrdrv",           "hfi1",
    "i40e",      "iavf",        "ib_core",   "ib_ipoib",       "ib_umad",     "ib_uverbs",        "ice",
    "igb",       "igbvf",       "ipvlan",    "irdma",          "ixgbe",       "ixgbevf",          "macvlan",
    "mlx4_core", "mlx4_ib",     "mlx5_core", "mlx5_ib",        "mlx5_vdpa",   "mlx5_vfio_pci",    "mlx_compat",
    "netdevsim", "nv_peer_mem", "nvidia",    "nvidia_peermem", "openvswitch", "rdma_cm",          "rdma_rxe",
    "rdma_ucm",  "siw",         "tun",       "vdpa",           "vfio",        "vfio_iommu_type1", "vfio_pci",
    "vhost_net", "vhost_vdpa"};

// Those of them that labels and rules depend on.
constexpr std::array kModulesForPlans = {"ib_uverbs", "nvidia_peermem", "rdma_ucm"};

// Looks each module up by name, so that a recording does not reveal all loaded modules. /proc/modules serves trees
// without /sys/module, which lists built-in modules only when they have parameters.
std::vector<std::string> loaded_modules(Attributes& attributes, std::span<const char* const> asked) {
  std::vector<std::string> loaded;
  bool in_sysfs = attributes.exists("/sys/module");
  std::string proc = in_sysfs ? "" : "\n" + attributes.text("/proc/modules").value_or("");
  const auto modules = attributes.hold("/sys/module");
  for (const char* name : asked) {
    bool here = in_sysfs ? attributes.exists(fmt::format("/sys/module/{}", name))
                         : proc.find(fmt::format("\n{} ", name)) != std::string::npos;
    if (here) loaded.emplace_back(name);
  }
  return loaded;
}

// Drivers of a vendor's release say which: "24.07-0.6.1". Those of the kernel's own tree have no version.
std::map<std::string, std::string> driver_versions(Attributes& attributes) {
  std::map<std::string, std::string> versions;
  for (const char* name : {"ib_core", "mlx5_core"})
    if (std::optional<std::string> version = attributes.text(fmt::format("/sys/module/{}/version", name)))
      if (!version->empty()) versions.emplace(name, std::move(*version));
  return versions;
}

std::string netns_mode(Attributes& attributes, os::RdmaPort* rdma) {
  if (rdma != nullptr)
    if (Result<os::RdmaNetnsMode> mode = rdma->netns_mode())
      return *mode == os::RdmaNetnsMode::kShared ? "shared" : "exclusive";
  std::string parameter = attributes.text("/sys/module/ib_core/parameters/netns_mode").value_or("");
  if (parameter == "Y") return "shared";
  return parameter == "N" ? "exclusive" : "";
}

// The eswitch mode, which only devlink knows, and firmware versions that sysfs does not have; igb and many others have
// neither.
void ask_devlink(Attributes& attributes, os::NetlinkQuestions& kernel, Detail detail, std::vector<Nic>& nics) {
  if (auto reached = kernel.reach(os::NetlinkFamily::kDevlink).context("eswitch modes and firmware versions");
      !reached) {
    attributes.note(reached.error());
    return;
  }
  for (Nic& nic : nics) {
    if (nic.total_vfs)
      if (Result<EswitchMode> mode = os::eswitch_mode(kernel, nic.pci.address)) nic.eswitch_mode = *mode;
    if (nic.firmware.empty() && detail == Detail::kAll)
      if (Result<std::string> firmware = os::firmware_version(kernel, nic.pci.address)) nic.firmware = *firmware;
  }
}

// Why VFs have no driver, where they should have one.
void find_module_blocks(Attributes& attributes, NodeFacts& facts) {
  std::set<std::string> drivers;
  for (const Nic& nic : facts.nics)
    if (!vfs_without_driver(nic).empty()) drivers.insert(vf_driver(nic));
  drivers.erase("");
  if (!drivers.empty()) facts.module_blocks = read_module_blocks(attributes, drivers);
}

// One request per PF that has VFs, because the kernel needs long to fill in VF information.
void ask_vfs(Attributes& attributes, os::LinkPort& links, std::vector<Nic>& nics) {
  for (Nic& nic : nics)
    for (const NetInterface& netdev : nic.netdevs) {
      if (nic.vfs.empty() || !netdev.index) continue;
      Result<os::Link> link = links.find(netdev.index, os::WithVfs::kYes);
      if (link)
        apply_vf_info(nic, link->vfs);
      else
        attributes.note(link.error());
    }
}

std::vector<NumaNode> numa_nodes(Attributes& attributes) {
  constexpr std::string_view kNode = "node";
  std::vector<NumaNode> nodes;
  for (const std::string& name : attributes.list("/sys/devices/system/node"))
    if (auto number = name.starts_with(kNode) ? parse_number(name.substr(kNode.size())) : std::nullopt)
      nodes.push_back({.number = static_cast<int>(*number),
                       .cpus = attributes.text(fmt::format("/sys/devices/system/node/{}/cpulist", name)).value_or("")});
  return nodes;
}

// Whether the node has an IOMMU that is switched on. The kernel has the folder of groups, perhaps empty, even without
// one; a copy of some of its files may lack it, and then nothing is known.
std::optional<bool> iommu(Attributes& attributes, const os::Kernel& kernel, const std::vector<Nic>& nics) {
  if (std::ranges::any_of(nics, [](const Nic& nic) { return nic.pci.iommu_group.has_value(); })) return true;
  if (!attributes.list("/sys/kernel/iommu_groups").empty()) return true;
  if (kernel.live() || attributes.exists("/sys/kernel/iommu_groups")) return false;
  return std::nullopt;
}

std::vector<std::string> unavailable_without_netlink(Attributes& attributes) {
  std::vector<std::string> unavailable = {"addresses"};
  if (!attributes.exists("/proc/net/route")) unavailable.emplace_back("routes");
  return unavailable;
}

// The traffic between a NIC with Data Direct and a GPU takes the NIC's second function. The kernel pairs the two by
// their vital product data; here they are paired in the order of their addresses, and only where there are as many.
void find_gpu_paths(const std::vector<PciDevice>& data_direct, NodeFacts& facts) {
  const NumaNodes nodes = numa_nodes_of(facts);
  const auto can = [](const Nic& nic) { return nic.pci.vendor == "15b3" && nic.pci.device == "1023"; };  // ConnectX-8
  const bool paired = std::ranges::count_if(facts.nics, can) == std::ssize(data_direct);
  size_t next = 0;
  for (Nic& nic : facts.nics) {
    if (!paired || !can(nic)) {
      nic.gpus = gpu_paths(nic.pci, facts.gpus, nodes);
      continue;
    }
    PciDevice second = data_direct[next++];
    if (!second.numa_node) second.numa_node = nic.pci.numa_node;
    nic.data_direct = second.address;
    nic.gpus = gpu_paths(second, facts.gpus, nodes);
  }
}

void name_models(const PciIds& ids, PciDevice& device, std::unordered_map<std::string, std::string>& known) {
  auto [at, is_new] = known.try_emplace(device.vendor + device.device);
  if (is_new) at->second = ids.device(device.vendor, device.device);
  device.model = at->second;
}

void name_models(const PciIds& ids, NodeFacts& facts) {
  std::unordered_map<std::string, std::string> known;
  for (Nic& nic : facts.nics) {
    name_models(ids, nic.pci, known);
    for (Vf& vf : nic.vfs) name_models(ids, vf.pci, known);
  }
  for (Gpu& gpu : facts.gpus) name_models(ids, gpu.pci, known);
}

}  // namespace

NodeFacts collect(os::Kernel& kernel, const CollectOptions& options) {
  NodeFacts facts;
  Attributes attributes(kernel.files(), facts.problems);
  facts.node = options.node.empty() ? kernel.host_name() : options.node;
  facts.kernel = kernel.kernel_release();
  auto opened = [&]<typename Port>(Result<std::unique_ptr<Port>> port) -> std::unique_ptr<Port> {
    if (port) return std::move(*port);
    attributes.note(port.error());
    return nullptr;
  };
  std::unique_ptr<os::LinkPort> links = opened(kernel.links());
  std::unique_ptr<os::RdmaPort> rdma = opened(kernel.rdma());

  std::vector<FoundInterface> interfaces = scan_interfaces(attributes, links.get(), options.detail);
  std::vector<RdmaName> names = rdma_names(attributes);
  std::set<PciAddress> carriers;
  for (const FoundInterface& interface : interfaces)
    if (interface.pci) carriers.insert(*interface.pci);
  for (const RdmaName& name : names)
    if (name.pci) carriers.insert(*name.pci);
  PciScan pci = scan_pci(attributes, carriers, options.detail);
  std::vector<FoundRdma> devices = scan_rdma(attributes, rdma.get(), names, pci.vfs);

  const std::vector<PciDevice> data_direct = std::move(pci.data_direct);
  facts.switches = std::move(pci.switches);
  for (const PciDevice& device : pci.accelerators) facts.gpus.push_back({.pci = device});
  assemble(attributes, std::move(pci), std::move(interfaces), std::move(devices), facts);
  if (links != nullptr) ask_vfs(attributes, *links, facts.nics);
  ask_devlink(attributes, *kernel.questions(), options.detail, facts.nics);
  facts.numa_nodes = numa_nodes(attributes);
  find_gpu_paths(data_direct, facts);
  facts.fabrics = group_fabrics(facts.nics);
  facts.modules = options.detail == Detail::kAll ? loaded_modules(attributes, kModules)
                                                 : loaded_modules(attributes, kModulesForPlans);
  if (options.detail == Detail::kAll) {
    find_module_blocks(attributes, facts);
    read_arp_settings(attributes, links.get(), facts);
    facts.driver_versions = driver_versions(attributes);
    facts.platform = read_platform(attributes);
    facts.kubelet = read_kubelet(attributes);
  }
  facts.iommu = iommu(attributes, kernel, facts.nics);
  if (links == nullptr) facts.unavailable = unavailable_without_netlink(attributes);
  if (!attributes.exists("/sys/bus/pci/devices")) facts.unavailable.emplace_back(kPciFunctions);
  facts.rdma_netns_mode = netns_mode(attributes, rdma.get());
  if (!options.pci_ids.empty())
    if (Result<std::string> ids = os::real_files("/")->read(options.pci_ids))
      name_models(PciIds(std::move(*ids)), facts);
  make_utf8(facts);
  facts.labels = implied_labels(facts);
  return facts;
}

}  // namespace railbed::facts
