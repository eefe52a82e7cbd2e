// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "facts/gpu_paths.h"
#include "facts/nccl_topology.h"

namespace railbed::facts {
namespace {

const NcclFunction* at(const std::vector<NcclFunction>& functions, const PciAddress& address) {
  const auto found = std::ranges::find(functions, address, &NcclFunction::address);
  return found == functions.end() ? nullptr : &*found;
}

// A card with several ports stands there once, by its first function.
std::vector<const NcclFunction*> places_of(const NcclTopology& topology, const Nic& nic) {
  std::vector<const NcclFunction*> places;
  PciAddress first = nic.pci.address;
  first.function = 0;
  if (const NcclFunction* own = at(topology.nics, nic.pci.address))
    places.push_back(own);
  else if (const NcclFunction* card = at(topology.nics, first))
    places.push_back(card);
  if (!nic.data_direct) return places;
  // The data goes through the second function. A file that lacks it does not say where.
  const NcclFunction* second = at(topology.nics, *nic.data_direct);
  if (second == nullptr) return {};
  places.push_back(second);
  return places;
}

std::string_view nearest_kind(const std::vector<const NcclFunction*>& places, const NcclFunction& gpu) {
  std::string_view best;
  for (const NcclFunction* place : places)
    if (const std::string_view kind = nccl_path_kind(*place, gpu); path_rank(kind) < path_rank(best)) best = kind;
  return best;
}

std::string label(const Nic& nic) {
  for (const RdmaDevice& device : nic.rdma)
    if (!device.soft) return fmt::format("{} ({})", device.name, nic.pci.address);
  return nic.pci.address.to_string();
}

// Whether both say the same: PHB is the finer word of a machine for what the file calls NODE.
bool agree(std::string_view machine, std::string_view file) {
  return machine == file || (machine == "PHB" && file == "NODE");
}

void note_absent(std::vector<std::string>& lines, const std::vector<std::string>& names, std::string_view what) {
  if (!names.empty()) lines.push_back(fmt::format("{}: {}", what, fmt::join(names, ", ")));
}

// Functions that only one of the two has.
std::vector<std::string> absent(const NcclTopology& topology, const NodeFacts& facts) {
  std::vector<std::string> only_here;
  std::vector<std::string> only_there;
  for (const Gpu& gpu : facts.gpus)
    if (at(topology.gpus, gpu.pci.address) == nullptr) only_here.push_back(fmt::format("GPU {}", gpu.pci.address));
  for (const Nic& nic : facts.nics)
    if (!nic.rdma.empty() && places_of(topology, nic).empty()) only_here.push_back(label(nic));
  for (const NcclFunction& gpu : topology.gpus)
    if (std::ranges::none_of(facts.gpus, [&](const Gpu& one) { return one.pci.address == gpu.address; }))
      only_there.push_back(fmt::format("GPU {}", gpu.address));
  for (const NcclFunction& nic : topology.nics)
    if (std::ranges::none_of(facts.nics, [&](const Nic& one) {
          return one.pci.address == nic.address || one.data_direct == nic.address;
        }))
      only_there.push_back(fmt::format("NIC {}", nic.address));
  std::vector<std::string> lines;
  note_absent(lines, only_here, "here, but not in it");
  note_absent(lines, only_there, "in it, but not here");
  return lines;
}

}  // namespace

std::string_view nccl_path_kind(const NcclFunction& nic, const NcclFunction& gpu) {
  if (!nic.switches.empty() && !gpu.switches.empty()) {
    if (nic.switches.front() == gpu.switches.front()) return "PIX";
    if (std::ranges::find_first_of(nic.switches, gpu.switches) != nic.switches.end()) return "PXB";
  }
  if (!nic.numa_node || !gpu.numa_node) return "";
  return *nic.numa_node == *gpu.numa_node ? "NODE" : "SYS";
}

Result<std::vector<std::string>> take_nccl_paths(const NcclTopology& topology, NodeFacts& facts) {
  std::vector<std::string> lines;
  size_t taken = 0;
  for (Nic& nic : facts.nics) {
    const std::vector<const NcclFunction*> places = places_of(topology, nic);
    if (places.empty()) continue;
    std::vector<std::string> differences;
    for (GpuPath& path : nic.gpus) {
      const NcclFunction* gpu = at(topology.gpus, path.gpu);
      if (gpu == nullptr) continue;
      ++taken;
      const std::string_view kind = nearest_kind(places, *gpu);
      if (kind.empty() || agree(path.kind, kind)) continue;
      if (!path.kind.empty())
        differences.push_back(fmt::format("{} instead of {} to GPU {}", kind, path.kind, path.gpu));
      path.kind = kind;
    }
    sort_paths(nic.gpus);
    if (!differences.empty()) lines.push_back(fmt::format("{}: {}", label(nic), fmt::join(differences, ", ")));
  }
  if (taken == 0)
    return fail(Code::kInvalid, "this topology is from another machine: it contains no GPU or NIC of this one");
  std::ranges::move(absent(topology, facts), std::back_inserter(lines));
  return lines;
}

}  // namespace railbed::facts
