// SPDX-License-Identifier: Apache-2.0
// Which ports of which nodes become which rail, with how many VFs and which addresses.
//
// Why: calculations that people do manually and get wrong (addresses for one node instead of all, one rail for eight
// GPUs, ports of two fabrics in one network) follow from the nodes' facts. `railbed generate` writes the result as
// manifests, `railbed size` as a table.
// Threading: pure functions over values; a Design points into the facts, which must outlive it.
// Failure: an Error says what the nodes lack and what to do; omitted ports (a port that is down or that the host uses)
// are in the notes. A rail keeps its number then: rail 4 is the port of the same GPU on every node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "base/error.h"
#include "base/ip.h"
#include "facts/node_facts.h"

namespace railbed::generate {

enum class Profile : uint8_t {
  kInfiniband,  // VFs of InfiniBand ports, SriovIBNetwork
  kRoce,        // VFs of Ethernet ports, SriovNetwork
  kHostDevice,  // whole ports, one pod per node
};

inline constexpr std::string_view kTestNamespace = "rdma-test";
// The image of NVIDIA's GPUs and of nodes without GPUs; for those of other vendors it stands for the vendor's
// (facts/gpu_vendors.h).
inline constexpr std::string_view kTestImage = "nvcr.io/nvidia/doca/doca:3.1.0-full-rt-host";

struct DesignRequest {
  Profile profile = Profile::kInfiniband;
  int vfs = 8;                             // per PF; fewer where the card has fewer; 0: what the pods need and a spare
  int pods_per_node = 1;                   // pods that run at once
  int vfs_per_pod = 1;                     // of each pod on every rail
  int spare_percent = 20;                  // more VFs than the pods need, for pods that are replaced; where vfs is 0
  int mtu = 0;                             // 0: 9000 for RoCE in hardware, otherwise unchanged
  bool soft_rdma = false;                  // take ports without RDMA as well
  std::string addresses = "10.64.0.0/12";  // the rails' ranges are cut out of it
  std::string resource_prefix = "openshift.io";
  std::string operator_namespace = "openshift-sriov-network-operator";
  std::string pod_namespace{kTestNamespace};
  std::string image{kTestImage};
  std::string taint = {};  // "KEY" or "KEY=VALUE": that of nodes for pods with rails alone; empty: none
};

struct Port {
  const facts::NodeFacts* node = nullptr;
  const facts::Nic* nic = nullptr;
};

// What decided how many VFs a PF makes.
enum class VfLimit : uint8_t {
  kRequest,  // DesignRequest::vfs
  kPods,     // the pods and the spare
  kCard,     // sriov_totalvfs of a card of the rail
  kWebhook,  // the operator refuses more for NVIDIA's cards
  kWhole,    // the port is not divided
};
std::string_view limit_name(VfLimit limit);  // "--vfs", "pods and spare", "card", "webhook", "whole port"

struct Rail {
  std::string name;         // "rail0"; also the resource and the network
  int number = 0;           // facts/rails.h; numbers have gaps where no node can use a port
  std::vector<Port> ports;  // one of each node that has this rail
  int vfs = 0;              // per PF: the number that every port of the rail allows
  VfLimit limit = VfLimit::kRequest;
  IpPrefix range;  // big enough for all VFs of all nodes and a fifth more
};

struct Design {
  DesignRequest request;
  std::vector<const facts::NodeFacts*> nodes;  // nodes that have rails
  std::vector<Rail> rails;
  std::vector<std::string> notes;
  std::optional<api::Taint> taint = {};  // of its nodes, with NoSchedule; the pods tolerate it
};

Result<Design> design(const std::vector<facts::NodeFacts>& nodes, const DesignRequest& request);

// "node a: 8 rails for 8 GPUs", and what it means where the numbers differ.
std::string rails_per_gpu(const Design& design, const facts::NodeFacts& node);
// The number of addresses that a rail needs: one per VF of every node.
int addresses_needed(const Rail& rail);
// The number of VFs of one rail that the pods of a node take at once.
int vfs_needed(const Design& design);
// What DesignRequest asks for per PF, before cards limit it.
int vfs_wanted(const DesignRequest& request);
// Gb/s of each VF when all VFs that the pods take send at once, on the rail's slowest port; nothing where no port's
// rate is known. The PCIe link counts where it is slower than the port.
std::optional<double> share_gbps(const Design& design, const Rail& rail);

}  // namespace railbed::generate
