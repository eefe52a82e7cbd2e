// SPDX-License-Identifier: Apache-2.0
// What one interface of a pod shall be: a plugin chain's configuration, a pod's selection and assigned
// addresses, all understood and typed.
//
// Why: everything after this is carrying out. Two wishes that are equal mean the same interface, so an
// attached one is left alone; the wish is stored as JSON with the attachment and compared.
// Threading: plain values, pure functions. Failure: Invalid and Unsupported name network, plugin and key.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/attach.h"
#include "os/links.h"

namespace railbed::attach {

enum class Way : uint8_t {
  kMove,  // a host interface is moved into the pod
  kMake,  // a virtual interface is made inside the pod
  kVfio,  // the pod gets the device as a file; there is no interface
};

struct Wish {
  std::string interface;
  std::string network;
  std::string type;
  std::string resource;
  Way way = Way::kMove;

  // What is moved, by one of these; or the parent of what is made (`host_link` only; empty: that of the
  // default route).
  std::optional<PciAddress> device;
  std::string host_link;
  std::optional<MacAddress> host_mac;

  // Known for VFs of a pool; found out for others.
  std::optional<PciAddress> pf;
  std::optional<VfIndex> vf;

  os::MacvlanMode macvlan_mode = os::MacvlanMode::kBridge;
  os::IpvlanMode ipvlan_mode = os::IpvlanMode::kL2;

  os::VfChange vf_settings;  // through the PF
  std::optional<MacAddress> mac;
  std::optional<int> mtu;
  std::vector<std::pair<std::string, std::string>> sysctls;  // "net/ipv4/conf/net1/arp_filter" → "1"
  bool rdma = false;                                         // the pool promises RDMA
  bool rdma_required = false;                                // the network does not work without
  bool soft_rdma = false;                                    // a soft device will do

  std::vector<ipam::Assigned> addresses;
  std::vector<os::Route> routes;  // without `link`
  friend bool operator==(const Wish&, const Wish&) = default;
};

// `addresses` are those assigned by `ipam`.
Result<Wish> read_wish(const InterfaceWanted& wanted, bool soft_rdma, const api::IpamConfig& ipam,
                       std::vector<ipam::Assigned> addresses);

}  // namespace railbed::attach
