// SPDX-License-Identifier: Apache-2.0
// The facts of a node: its NICs, VFs, RDMA devices, GPUs and fabrics, as one value.
//
// Why: everything that railbed decides (graph, check, plan) is a function of manifests and of these facts, so a
// recorded machine, a fixture and the local machine are treated the same. `discover` prints them; JSON and YAML can be
// written and read (facts_json.h).
//
// Identity is the PCI address, never an interface name: names change, and a VF inside a pod has no name here.
// Threading: plain values.
// Failure: facts that could not be read are absent (empty optional), with a line in `problems`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/eswitch_mode.h"
#include "base/ip.h"
#include "base/types.h"

namespace railbed::facts {

inline constexpr int kFactsVersion = 1;

enum class LinkType : uint8_t { kUnknown, kEthernet, kInfiniband };

// One GID of an RDMA port. Empty (all-zero) entries are left out, so indexes have gaps.
struct GidEntry {
  int index = 0;
  Gid gid;
  std::string type;    // "IB", "RoCE v1", "RoCE v2"; empty where the kernel gives none
  std::string netdev;  // empty for InfiniBand
  friend bool operator==(const GidEntry&, const GidEntry&) = default;
};

struct RdmaPort {
  int number = 1;
  LinkType link_type = LinkType::kUnknown;
  std::string state;                // "ACTIVE", "INIT", "ARMED", "DOWN"; empty: unknown
  std::string physical_state;       // "LinkUp", "Polling", "Disabled", …
  std::optional<double> rate_gbps;  // data rate as in sysfs: "400 Gb/sec (4X NDR)" is 400
  std::string rate_text;            // the spelling of sysfs
  std::optional<int> active_mtu;
  std::optional<int> lid;
  std::optional<int> sm_lid;
  std::optional<uint64_t> subnet_prefix;
  std::optional<Guid> port_guid;
  std::string netdev;  // the interface of this port, where netlink, the GID table or its dev_port reports it
  std::vector<GidEntry> gids;
  std::vector<int> pkeys;  // non-zero ones
  friend bool operator==(const RdmaPort&, const RdmaPort&) = default;
};

struct RdmaDevice {
  std::string name;       // "mlx5_0", "rocep59s0", "rxe0"
  bool soft = false;      // rxe or siw: no hardware behind it
  std::string driver;     // "mlx5", "rxe", …; empty: unknown
  std::string transport;  // "iWARP"; empty: InfiniBand or RoCE, as the ports' link types say
  std::optional<Guid> node_guid;
  std::optional<Guid> system_image_guid;
  std::string firmware;
  std::string board_id;
  std::vector<std::string> char_devices;  // "uverbs0", "umad0", "issm0"
  std::vector<RdmaPort> ports;
  friend bool operator==(const RdmaDevice&, const RdmaDevice&) = default;
};

// The parts of a 20-byte IPoIB hardware address (RFC 4391 9.1.1).
struct IpoibAddress {
  uint8_t flags = 0;
  uint32_t qpn = 0;
  uint64_t subnet_prefix = 0;
  Guid port_guid;
  friend bool operator==(const IpoibAddress&, const IpoibAddress&) = default;
};

// How the kernel keeps interfaces of one subnet apart: sysctls, each the stricter of the interface's and that of "all".
struct ArpSettings {
  std::optional<int> ignore;        // arp_ignore; from 1 on the interface answers for its own addresses only
  std::optional<int> announce;      // arp_announce; 2: it asks with its own address
  std::optional<int> filter;        // arp_filter; 1: it answers where the kernel would send from
  std::optional<int> rp_filter;     // 1: packets whose answer would leave elsewhere are dropped
  std::optional<bool> source_rule;  // a rule routes packets from its addresses by a table of their own
  friend bool operator==(const ArpSettings&, const ArpSettings&) = default;
};

struct NetInterface {
  std::string name;
  std::string kind;  // "bond", "bridge", "vlan", "veth", …; empty for hardware
  std::vector<std::string> alt_names;
  IfIndex index;
  std::optional<MacAddress> mac;
  std::optional<IpoibAddress> ipoib;
  int mtu = 0;                   // 0: unknown
  std::optional<bool> admin_up;  // IFF_UP
  std::optional<bool> carrier;
  std::string oper_state;         // "up", "down", "unknown", …
  std::optional<int> speed_mbps;  // of Ethernet links that are up
  std::vector<IpPrefix> addresses;
  bool has_default_route = false;
  std::string master;              // the bond or bridge it is a port of
  std::string lower;               // the interface that a VLAN, macvlan, ipvlan or IPoIB partition rides on
  std::optional<ArpSettings> arp;  // read only where another interface is in its subnet
  friend bool operator==(const NetInterface&, const NetInterface&) = default;
};

struct GpuPath {
  PciAddress gpu;
  std::string kind;  // "PIX", "PXB", "PHB", "NODE", "SYS" as nvidia-smi and NCCL name them
  friend bool operator==(const GpuPath&, const GpuPath&) = default;
};

// The PCIe link above a function: what was trained, and what each end can.
struct PcieLink {
  double speed_gts = 0;  // 32 of "32.0 GT/s PCIe"
  int width = 0;
  double max_speed_gts = 0;  // of the function; 0: unknown
  int max_width = 0;
  std::optional<double> peer_max_speed_gts;  // of the port above; read only where the link is below the function's own
  std::optional<int> peer_max_width;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

// The uplink of a PCIe switch that NICs or GPUs are below.
struct PciSwitch {
  PciAddress address;  // its upstream port
  PcieLink link;
  friend bool operator==(const PciSwitch&, const PciSwitch&) = default;
};

// What every PCI function of interest has.
struct PciDevice {
  PciAddress address;
  std::string vendor;  // "15b3", four lower-case digits
  std::string device;  // "1021"
  std::string subsystem_vendor;
  std::string subsystem_device;
  std::string class_code;        // "0207", four digits
  std::string model;             // from pci.ids, or empty
  std::string driver;            // empty: none is bound
  std::optional<int> numa_node;  // absent where the kernel says -1
  std::optional<int> iommu_group;
  std::vector<PciAddress> bridges;  // the path from the root port down to the device, itself not included
  std::optional<PcieLink> link;     // absent: VFs, functions inside a root complex, files that lack it
  std::string slot;                 // the name of its physical slot, as firmware reports it; empty: unknown
  friend bool operator==(const PciDevice&, const PciDevice&) = default;
};

struct Vf {
  VfIndex index;
  PciDevice pci;
  std::optional<NetInterface> netdev;  // absent when it has another driver or lives in another namespace
  std::optional<RdmaDevice> rdma;
  // As reported by the PF (IFLA_VFINFO); absent without a report.
  std::optional<MacAddress> admin_mac;
  std::optional<int> vlan;
  std::optional<int> vlan_qos;
  std::string vlan_proto;  // "802.1q", "802.1ad" or empty
  std::optional<bool> spoof_check;
  std::optional<bool> trust;
  std::optional<bool> query_rss;
  std::string link_state;  // "auto", "enable", "disable" or empty
  std::optional<int> min_tx_rate_mbps;
  std::optional<int> max_tx_rate_mbps;
  std::optional<Guid> node_guid;
  std::optional<Guid> port_guid;
  friend bool operator==(const Vf&, const Vf&) = default;
};

// A network function that is no VF of this machine: a PF, an ordinary NIC, or a VF given to this (virtual)
// machine.
struct Nic {
  PciDevice pci;
  LinkType link_type = LinkType::kUnknown;
  std::vector<NetInterface> netdevs;  // two for a card with two ports on one function
  std::vector<RdmaDevice> rdma;       // usually one or none; includes soft devices on its netdevs
  std::string firmware;
  std::optional<int> total_vfs;  // sriov_totalvfs; absent: no SR-IOV
  int num_vfs = 0;
  std::optional<bool> vfs_autoprobe;
  std::optional<uint32_t> vf_offset;  // sriov_offset and sriov_stride: where VFs' addresses will be
  std::optional<uint32_t> vf_stride;
  std::string vf_device;                    // sriov_vf_device: the VFs' PCI device id
  std::optional<EswitchMode> eswitch_mode;  // absent: no eswitch
  std::optional<PciAddress> data_direct;    // its second function, beside a GPU (ConnectX-8 with Data Direct)
  std::vector<GpuPath> gpus;                // nearest first
  std::vector<Vf> vfs;                      // by index
  friend bool operator==(const Nic&, const Nic&) = default;
};

struct Gpu {
  PciDevice pci;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// InfiniBand ports that can reach each other: same subnet prefix and same subnet manager.
struct Fabric {
  std::string name;  // "fabric1", … in the order of their first port
  uint64_t subnet_prefix = 0;
  std::optional<int> sm_lid;
  std::vector<std::string> ports;  // "mlx5_0/1"
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

struct NumaNode {
  int number = 0;
  std::string cpus;  // "0-55,112-167"
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

// A line that keeps a kernel module from being loaded for a device.
struct ModuleBlock {
  std::string module;  // "iavf"
  std::string file;    // "/etc/modprobe.d/vfs.conf", "/proc/cmdline"
  int line = 0;        // from 1
  std::string text;    // "blacklist iavf"
  friend bool operator==(const ModuleBlock&, const ModuleBlock&) = default;
};

// A taint with which the kubelet registers its node; the Node object may have lost it since.
struct NodeTaint {
  std::string key;
  std::string value;
  std::string effect;
  friend bool operator==(const NodeTaint&, const NodeTaint&) = default;
};

// What the kubelet's configuration says of processors, memory and NUMA nodes. Empty: its default.
struct Kubelet {
  std::string cpu_manager;       // policy: "none", "static"
  std::string topology_manager;  // policy: "none", "best-effort", "restricted", "single-numa-node"
  std::string topology_scope;    // "container", "pod"
  std::string memory_manager;    // policy: "None", "Static"
  std::string reserved_cpus;     // "0-1,56-57": those that no pod gets
  std::vector<NodeTaint> taints;
  friend bool operator==(const Kubelet&, const Kubelet&) = default;
};

struct NodeFacts {
  std::string node;                           // its name
  std::string kernel;                         // release
  std::map<std::string, std::string> labels;  // labels that the facts imply (NFD's) and kubernetes.io/hostname
  std::optional<bool> iommu;                  // absent: the files at hand do not say
  std::string platform;            // of a cloud, as DMI reports it: "AWS", "Azure"; empty: none that is known
  std::optional<Kubelet> kubelet;  // absent: its configuration is not at its usual place
  std::string rdma_netns_mode;     // "shared", "exclusive"; empty: no RDMA
  std::map<std::string, std::string> driver_versions;  // of drivers that are none of the kernel's own: their release
  std::vector<std::string> modules;                    // the loaded ones of those that railbed looks for
  std::vector<ModuleBlock> module_blocks;     // of the drivers that VFs lack; read only where VFs have no driver
  std::vector<Nic> nics;                      // by PCI address
  std::vector<NetInterface> virtual_netdevs;  // interfaces without a PCI device: bonds, bridges, dummies, veths
  std::vector<RdmaDevice> virtual_rdma;       // RDMA devices that belong to none of the NICs
  std::vector<Gpu> gpus;
  std::vector<PciSwitch> switches;  // by address; only those whose files have the link
  std::vector<Fabric> fabrics;
  std::vector<NumaNode> numa_nodes;      // empty: unknown
  std::vector<std::string> unavailable;  // what the source has no facts of: "addresses", "routes"
  std::vector<std::string> problems;     // what could not be read, with path and errno
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

}  // namespace railbed::facts
