// SPDX-License-Identifier: Apache-2.0
// The key of every fact, defined once for writing and reading (facts_json.cc).
//
// `io("key", field)` is called for each field in the order of the document; `T` is the struct, const when writing.
// Included by facts_json.cc only.
#pragma once

#include <concepts>
#include <type_traits>

#include "facts/node_facts.h"

namespace railbed::facts {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

template <typename Io, Is<GidEntry> T>
void fields(Io& io, T& gid) {
  io("index", gid.index);
  io("gid", gid.gid);
  io("type", gid.type);
  io("netdev", gid.netdev);
}

template <typename Io, Is<RdmaPort> T>
void fields(Io& io, T& port) {
  io("number", port.number);
  io("linkType", port.link_type);
  io("state", port.state);
  io("physicalState", port.physical_state);
  io("rateGbps", port.rate_gbps);
  io("rateText", port.rate_text);
  io("activeMtu", port.active_mtu);
  io("lid", port.lid);
  io("smLid", port.sm_lid);
  io("subnetPrefix", port.subnet_prefix);
  io("portGuid", port.port_guid);
  io("netdev", port.netdev);
  io("gids", port.gids);
  io("pkeys", port.pkeys);
}

template <typename Io, Is<RdmaDevice> T>
void fields(Io& io, T& device) {
  io("name", device.name);
  io("soft", device.soft);
  io("driver", device.driver);
  io("transport", device.transport);
  io("nodeGuid", device.node_guid);
  io("systemImageGuid", device.system_image_guid);
  io("firmware", device.firmware);
  io("boardId", device.board_id);
  io("charDevices", device.char_devices);
  io("ports", device.ports);
}

template <typename Io, Is<IpoibAddress> T>
void fields(Io& io, T& address) {
  io("flags", address.flags);
  io("qpn", address.qpn);
  io("subnetPrefix", address.subnet_prefix);
  io("portGuid", address.port_guid);
}

template <typename Io, Is<ArpSettings> T>
void fields(Io& io, T& arp) {
  io("ignore", arp.ignore);
  io("announce", arp.announce);
  io("filter", arp.filter);
  io("rpFilter", arp.rp_filter);
  io("sourceRule", arp.source_rule);
}

template <typename Io, Is<NetInterface> T>
void fields(Io& io, T& netdev) {
  io("name", netdev.name);
  io("kind", netdev.kind);
  io("altNames", netdev.alt_names);
  io("index", netdev.index);
  io("mac", netdev.mac);
  io("ipoib", netdev.ipoib);
  io("mtu", netdev.mtu);
  io("adminUp", netdev.admin_up);
  io("carrier", netdev.carrier);
  io("operState", netdev.oper_state);
  io("speedMbps", netdev.speed_mbps);
  io("addresses", netdev.addresses);
  io("hasDefaultRoute", netdev.has_default_route);
  io("master", netdev.master);
  io("lower", netdev.lower);
  io("arp", netdev.arp);
}

template <typename Io, Is<GpuPath> T>
void fields(Io& io, T& path) {
  io("gpu", path.gpu);
  io("kind", path.kind);
}

template <typename Io, Is<PcieLink> T>
void fields(Io& io, T& link) {
  io("speedGts", link.speed_gts);
  io("width", link.width);
  io("maxSpeedGts", link.max_speed_gts);
  io("maxWidth", link.max_width);
  io("peerMaxSpeedGts", link.peer_max_speed_gts);
  io("peerMaxWidth", link.peer_max_width);
}

template <typename Io, Is<PciSwitch> T>
void fields(Io& io, T& one) {
  io("address", one.address);
  io("pcie", one.link);
}

template <typename Io, Is<PciDevice> T>
void fields(Io& io, T& pci) {
  io("address", pci.address);
  io("vendor", pci.vendor);
  io("device", pci.device);
  io("subsystemVendor", pci.subsystem_vendor);
  io("subsystemDevice", pci.subsystem_device);
  io("classCode", pci.class_code);
  io("model", pci.model);
  io("driver", pci.driver);
  io("numaNode", pci.numa_node);
  io("iommuGroup", pci.iommu_group);
  io("bridges", pci.bridges);
  io("pcie", pci.link);
  io("slot", pci.slot);
}

template <typename Io, Is<Vf> T>
void fields(Io& io, T& vf) {
  io("index", vf.index);
  fields(io, vf.pci);
  io("netdev", vf.netdev);
  io("rdma", vf.rdma);
  io("adminMac", vf.admin_mac);
  io("vlan", vf.vlan);
  io("vlanQos", vf.vlan_qos);
  io("vlanProto", vf.vlan_proto);
  io("spoofCheck", vf.spoof_check);
  io("trust", vf.trust);
  io("queryRss", vf.query_rss);
  io("linkState", vf.link_state);
  io("minTxRateMbps", vf.min_tx_rate_mbps);
  io("maxTxRateMbps", vf.max_tx_rate_mbps);
  io("nodeGuid", vf.node_guid);
  io("portGuid", vf.port_guid);
}

template <typename Io, Is<Nic> T>
void fields(Io& io, T& nic) {
  fields(io, nic.pci);
  io("linkType", nic.link_type);
  io("netdevs", nic.netdevs);
  io("rdma", nic.rdma);
  io("firmware", nic.firmware);
  io("totalVfs", nic.total_vfs);
  io("numVfs", nic.num_vfs);
  io("vfsAutoprobe", nic.vfs_autoprobe);
  io("vfOffset", nic.vf_offset);
  io("vfStride", nic.vf_stride);
  io("vfDevice", nic.vf_device);
  io("eswitchMode", nic.eswitch_mode);
  io("dataDirect", nic.data_direct);
  io("gpus", nic.gpus);
  io("vfs", nic.vfs);
}

template <typename Io, Is<Gpu> T>
void fields(Io& io, T& gpu) {
  fields(io, gpu.pci);
}

template <typename Io, Is<Fabric> T>
void fields(Io& io, T& fabric) {
  io("name", fabric.name);
  io("subnetPrefix", fabric.subnet_prefix);
  io("smLid", fabric.sm_lid);
  io("ports", fabric.ports);
}

template <typename Io, Is<NumaNode> T>
void fields(Io& io, T& node) {
  io("number", node.number);
  io("cpus", node.cpus);
}

template <typename Io, Is<ModuleBlock> T>
void fields(Io& io, T& block) {
  io("module", block.module);
  io("file", block.file);
  io("line", block.line);
  io("text", block.text);
}

template <typename Io, Is<NodeTaint> T>
void fields(Io& io, T& taint) {
  io("key", taint.key);
  io("value", taint.value);
  io("effect", taint.effect);
}

template <typename Io, Is<Kubelet> T>
void fields(Io& io, T& kubelet) {
  io("cpuManagerPolicy", kubelet.cpu_manager);
  io("topologyManagerPolicy", kubelet.topology_manager);
  io("topologyManagerScope", kubelet.topology_scope);
  io("memoryManagerPolicy", kubelet.memory_manager);
  io("reservedSystemCPUs", kubelet.reserved_cpus);
  io("registerWithTaints", kubelet.taints);
}

template <typename Io, Is<NodeFacts> T>
void fields(Io& io, T& facts) {
  io("node", facts.node);
  io("kernel", facts.kernel);
  io("labels", facts.labels);
  io("iommu", facts.iommu);
  io("platform", facts.platform);
  io("kubelet", facts.kubelet);
  io("rdmaNetnsMode", facts.rdma_netns_mode);
  io("driverVersions", facts.driver_versions);
  io("modules", facts.modules);
  io("moduleBlocks", facts.module_blocks);
  io("nics", facts.nics);
  io("virtualNetdevs", facts.virtual_netdevs);
  io("virtualRdma", facts.virtual_rdma);
  io("gpus", facts.gpus);
  io("switches", facts.switches);
  io("fabrics", facts.fabrics);
  io("numaNodes", facts.numa_nodes);
  io("untold", facts.unavailable);
  io("problems", facts.problems);
}

}  // namespace railbed::facts
