// SPDX-License-Identifier: Apache-2.0
// The desired state of one interface of a pod: a plugin chain's configuration, a pod's selection and assigned
// addresses, all parsed and typed.
//
// Why: all later code only applies it. Two equal specs mean the same interface, so an attached one is not changed; the
// spec is stored as JSON with the attachment and compared.
// Threading: plain values, pure functions.
// Failure: Invalid and Unsupported name network, plugin and key.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/attach.h"
#include "os/ports/links.h"

namespace railbed::attach {

enum class Way : uint8_t {
  kMove,      // a host interface is moved into the pod
  kMake,      // a virtual interface is made inside the pod
  kVfio,      // the pod gets the device as a file; there is no interface
  kExisting,  // an interface of the pod, made by another request, is changed
};

// Traffic from an address of the interface leaves through the interface (type sbr).
struct SourceRouting {
  std::optional<int> table;         // for all addresses; absent: a free one for each
  std::vector<IpAddress> gateways;  // instead of those of the addresses
  bool source_hints = false;        // routes name the address as their source
  friend bool operator==(const SourceRouting&, const SourceRouting&) = default;
};

struct VrfSpec {
  std::string name;
  int table = 0;  // 0: the lowest that no VRF of the pod has
  friend bool operator==(const VrfSpec&, const VrfSpec&) = default;
};

struct InterfaceSpec {
  std::string interface;
  std::string network;
  std::string type;
  std::string resource;
  Way way = Way::kMove;

  // What is moved, by one of these; or the parent of what is made (`host_link` only; empty: that of the
  // default route), unless that stands alone.
  std::optional<PciAddress> device;
  std::string host_link;
  std::optional<MacAddress> host_mac;
  std::string kernel_path;      // in sysfs
  std::string auxiliary;        // "mlx5_core.sf.4"
  bool master_in_pod = false;   // of what is made
  bool without_parent = false;  // what is made has no parent, and is of no use without addresses

  // Known for VFs of a pool, looked up for others.
  std::optional<PciAddress> pf;
  std::optional<VfIndex> vf;

  os::MacvlanMode macvlan_mode = os::MacvlanMode::kBridge;
  os::IpvlanMode ipvlan_mode = os::IpvlanMode::kL2;

  std::optional<int> broadcast_queue;  // macvlan

  // What the pod's author chose, by annotation or CNI_ARGS: no other pod of the node may have it.
  std::optional<MacAddress> chosen_mac;
  std::optional<Guid> chosen_guid;

  os::VfChange vf_settings;  // through the PF
  std::optional<MacAddress> mac;
  std::optional<int> mtu;
  std::vector<std::pair<std::string, std::string>> sysctls;  // "net/ipv4/conf/net1/arp_filter" → "1"
  std::vector<std::string> sysctl_names;                     // of these, as they were written
  std::optional<bool> promiscuous;
  std::optional<bool> all_multicast;
  std::optional<int> tx_queue;
  std::optional<SourceRouting> source_routing;
  std::optional<VrfSpec> vrf;
  bool rdma_isolated = false;  // must not be shared with other pods
  bool rdma = false;           // the pool promises RDMA
  bool rdma_required = false;  // the network does not work without
  bool soft_rdma = false;      // a soft device will do

  std::vector<ipam::Assigned> addresses;
  std::vector<Route> routes;  // without `link`
  // By the network's IPAM or the pod, now or later. Not recorded, since it follows from the rest.
  bool addresses_are_assigned = false;

  // "net1", or "net1/tuning" for a change of an interface that is there.
  std::string record_name() const { return way == Way::kExisting ? interface + "/" + type : interface; }
  friend bool operator==(const InterfaceSpec&, const InterfaceSpec&) = default;
};

// Whether the spec has something that only an interface can have.
bool needs_interface(const InterfaceSpec& spec);

Result<InterfaceSpec> read_spec(const InterfaceRequest& request, bool soft_rdma);

}  // namespace railbed::attach
