// SPDX-License-Identifier: Apache-2.0
// The node's VFs as the kubelet counts them: devices of a resource, each healthy or not.
//
// Why: a VF that a pod could not use must not be allocated, so that the kubelet fails early with a reason. Identity is
// the PCI address: the interface of a VF that a pod holds is not visible here, and the VF still stays listed.
// Threading: pure functions over values.
// Failure: none.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kubelet/device_offers.h"

namespace railbed::kubelet {

struct Device {
  plan::PoolVf vf;
  std::string unhealthy;         // why no pod gets it; empty: it is healthy
  std::optional<int> numa_node;  // the hint for the kubelet's Topology Manager
  std::string ending = {};       // why no further pod gets it, though it is healthy for the one that has it
  std::string id() const { return vf.address.to_string(); }
  friend bool operator==(const Device&, const Device&) = default;
};

struct Resource {
  std::vector<Device> devices;  // by PF and index
  bool vhost_net = false;       // its pods get /dev/vhost-net and /dev/net/tun
  bool mad = false;             // its pods may send management datagrams: they get umad
  bool soft_rdma = false;       // RDMA-marked VFs without RDMA get a soft device when they are attached
  // Null where it is none of these.
  const Device* find(const std::string& id) const;
  friend bool operator==(const Resource&, const Resource&) = default;
};
using Resources = std::map<std::string, Resource>;  // by name: "openshift.io/rail0"

Resources resources_of(const NodeDevices& node, const std::set<PciAddress>& withdrawn);

}  // namespace railbed::kubelet
