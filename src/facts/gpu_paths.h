// SPDX-License-Identifier: Apache-2.0
// The distance of a NIC from each GPU, in the terms of nvidia-smi and NCCL.
//
//   PIX   below the same PCIe switch
//   PXB   below the same tree of PCIe switches, through more than one of them
//   PHB   on the same host bridge, through the CPU
//   NODE  on different host bridges of one NUMA node
//   SYS   across NUMA nodes
//
// NCCL has no NODE (it calls these PHB); GPUDirect RDMA is used up to PXB by default. A switch appears in sysfs as an
// upstream port and one downstream port per device; only the upstream ports count, as in NCCL's topology, and a root
// port is not a switch.
// Threading: pure functions.
// Failure: none; if the kernel does not report the NUMA nodes of both, and the machine may have several, the kind is
// empty: unknown.
#pragma once

#include <string_view>
#include <vector>

#include "facts/node_facts.h"

namespace railbed::facts {

// How many NUMA nodes the machine has, where that is known.
enum class NumaNodes : uint8_t { kUnknown, kOne, kSeveral };
NumaNodes numa_nodes_of(const NodeFacts& facts);

std::string_view path_kind(const PciDevice& nic, const PciDevice& gpu, NumaNodes nodes);
int path_rank(std::string_view kind);  // 0 for PIX to 4 for SYS; 5 for anything else

// Nearest first, then by address.
void sort_paths(std::vector<GpuPath>& paths);

// The paths to all of `gpus`, sorted.
std::vector<GpuPath> gpu_paths(const PciDevice& nic, const std::vector<Gpu>& gpus, NumaNodes nodes);

}  // namespace railbed::facts
