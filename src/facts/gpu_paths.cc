// SPDX-License-Identifier: Apache-2.0
#include "facts/gpu_paths.h"

#include <algorithm>
#include <array>
#include <utility>

namespace railbed::facts {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"PIX", "PXB", "PHB", "NODE", "SYS"};

// The switches above a device, nearest first. `bridges` is the root port, then (upstream port, downstream port) of each
// switch, so from the device upwards every second one is an upstream port.
std::vector<PciAddress> switches(const PciDevice& device) {
  std::vector<PciAddress> found;
  for (size_t i = device.bridges.size(); i >= 2; i -= 2) found.push_back(device.bridges[i - 2]);
  return found;
}

// The bus that hangs off the host bridge.
std::pair<uint32_t, uint8_t> root_bus(const PciDevice& device) {
  const PciAddress& top = device.bridges.empty() ? device.address : device.bridges.front();
  return {top.domain, top.bus};
}

}  // namespace

NumaNodes numa_nodes_of(const NodeFacts& facts) {
  if (facts.numa_nodes.empty()) return NumaNodes::kUnknown;
  return facts.numa_nodes.size() == 1 ? NumaNodes::kOne : NumaNodes::kSeveral;
}

std::string_view path_kind(const PciDevice& nic, const PciDevice& gpu, NumaNodes nodes) {
  std::vector<PciAddress> of_nic = switches(nic);
  std::vector<PciAddress> of_gpu = switches(gpu);
  if (!of_nic.empty() && !of_gpu.empty()) {
    if (of_nic.front() == of_gpu.front()) return "PIX";
    if (std::ranges::find_first_of(of_nic, of_gpu) != of_nic.end()) return "PXB";
  }
  if (root_bus(nic) == root_bus(gpu)) return "PHB";
  if (nodes == NumaNodes::kOne) return "NODE";
  if (!nic.numa_node || !gpu.numa_node) return "";
  return *nic.numa_node == *gpu.numa_node ? "NODE" : "SYS";
}

int path_rank(std::string_view kind) {
  return static_cast<int>(std::ranges::find(kKinds, kind) - kKinds.begin());
}

void sort_paths(std::vector<GpuPath>& paths) {
  std::ranges::stable_sort(paths, [](const GpuPath& a, const GpuPath& b) {
    return std::pair(path_rank(a.kind), a.gpu) < std::pair(path_rank(b.kind), b.gpu);
  });
}

std::vector<GpuPath> gpu_paths(const PciDevice& nic, const std::vector<Gpu>& gpus, NumaNodes nodes) {
  std::vector<GpuPath> paths;
  for (const Gpu& gpu : gpus)
    paths.push_back({.gpu = gpu.pci.address, .kind = std::string(path_kind(nic, gpu.pci, nodes))});
  sort_paths(paths);
  return paths;
}

}  // namespace railbed::facts
