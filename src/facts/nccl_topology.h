// SPDX-License-Identifier: Apache-2.0
// NCCL's view of a machine: the XML that it reads with NCCL_TOPO_FILE and writes with NCCL_TOPO_DUMP_FILE.
//
// Why: in a virtual machine the PCIe switches are hidden, and clouds ship such a file with the real topology. So it is
// a source of which NIC is near which GPU, and, if the machine reports the same, a value to compare with. Written from
// a node's facts, it provides the same topology to guests and to tools that plan jobs.
//
// Only the locations of GPUs and NICs are read from the file; NVLinks, speeds and CPU ids are used by NCCL only. The
// writer emits what the facts contain; NCCL detects the rest itself.
//
// Threading: pure functions.
// Failure: Code::kInvalid with name and line. Files are external input: size, depth and number of functions have
// limits, and documents with a DOCTYPE are rejected, since entities can grow without limit.
// Spec: NCCL's src/graph/xml.cc and topo.cc, version 1 of the format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "facts/node_facts.h"

namespace railbed::facts {

// A GPU or a NIC, and where it is.
struct NcclFunction {
  PciAddress address;
  std::vector<std::string> switches;  // above it, nearest first; names need be no addresses of this machine
  std::optional<int> numa_node;       // absent: unknown (-1)
  friend bool operator==(const NcclFunction&, const NcclFunction&) = default;
};

struct NcclTopology {
  std::vector<NcclFunction> gpus;
  std::vector<NcclFunction> nics;
  friend bool operator==(const NcclTopology&, const NcclTopology&) = default;
};

// `name` is for messages.
Result<NcclTopology> parse_nccl_topology(std::string_view text, std::string_view name);

// GPUs, and NICs with RDMA in hardware.
std::string print_nccl_topology(const NodeFacts& facts);

// "PIX", "PXB", "SYS", or "NODE": NCCL's PHB, since the file does not distinguish the host bridges of one CPU. Empty:
// unknown.
std::string_view nccl_path_kind(const NcclFunction& nic, const NcclFunction& gpu);

// Gives the facts the paths of the file, as far as it knows both ends, and returns what differs from what the machine
// reported, a line per NIC, and which functions only one of the two has. Fails where they have nothing in common.
Result<std::vector<std::string>> take_nccl_paths(const NcclTopology& topology, NodeFacts& facts);

}  // namespace railbed::facts
