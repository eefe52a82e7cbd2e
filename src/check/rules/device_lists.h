// SPDX-License-Identifier: Apache-2.0
// Lists of devices and interfaces in environment variables, each in the grammar of the library that reads it, and what
// nodes have to compare them with.
//
// Why: "mlx5_1" is a prefix for NCCL, which takes mlx5_10 and mlx5_11 as well, a name with a port for UCX, and a whole
// name for Gloo. With one reading for all of them a rule is wrong about two.
// Threading: pure functions over values.
// Failure: none; every text is a list, at worst an empty one.
// Source: NCCL, "Environment Variables" (NCCL_IB_HCA, NCCL_SOCKET_IFNAME) and misc/param.cc parseStringList; UCX,
// ucp_context.c (UCX_NET_DEVICES, matched with fnmatch); NVSHMEM, "Environment Variables" (NVSHMEM_HCA_LIST).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/rules/lookups.h"

namespace railbed::check {

enum class ListGrammar : uint8_t {
  kNccl,   // "^" excludes, "=" takes whole names instead of prefixes, ":1" a port
  kUcx,    // names with a port and wildcards, "all", "^" excludes
  kNames,  // whole names
};

struct DeviceList {
  struct Entry {
    std::string name;
    std::string port;  // empty: any
    bool whole = false;
    bool pattern = false;  // with "*" or "?"

    bool takes(std::string_view device, int number) const;
  };
  ListGrammar grammar = ListGrammar::kNames;
  bool exclude = false;
  bool all = false;  // UCX: "all"
  std::vector<Entry> entries;

  // Whether the library uses this device (port `number`), or interface.
  bool takes(std::string_view device, int number = 1) const;
};
DeviceList parse_device_list(std::string_view text, ListGrammar grammar);

// An RDMA port of a node.
struct HostPort {
  std::string device;  // "mlx5_3"
  const facts::RdmaPort* port = nullptr;
  bool rail = false;  // of the compute network (facts/rails.h)
  bool up = false;    // or not known to be down
};
// The ports of all hardware RDMA devices in the host's namespace, in the order of the facts; not those of VFs.
std::vector<HostPort> ports_of(const facts::NodeFacts& node);
// The names of all interfaces in the host's namespace, each once.
std::vector<std::string> interfaces_of(const facts::NodeFacts& node);

// The nodes with facts on which the pod can run, by its nodeName, nodeSelector, nodeAffinity and tolerations.
std::vector<const graph::Graph*> nodes_for(const Input& in, const PodTemplate& pod);
// Whether the pod runs on this node for certain: by its name, or as one of each node that fits.
bool must_run_on(const PodTemplate& pod, const graph::Graph& node);
// Why a finding about a pod and the nodes with facts is not sure.
inline constexpr std::string_view kOtherNodes = "the facts are of some nodes, and pods may run on others";

}  // namespace railbed::check
