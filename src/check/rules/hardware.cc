// SPDX-License-Identifier: Apache-2.0
// What a node must have for RDMA between GPUs, and which networks its platform carries.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/number.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "facts/pci_ids.h"
#include "facts/platform.h"
#include "facts/rails.h"

namespace railbed::check {
namespace {

using doc::Value;

// Pods with GPUs and RDMA networks.
std::vector<const PodView*> pods_for_gpudirect(const Input& in) {
  std::vector<const PodView*> pods;
  for (const PodView& pod : in.views.pods) {
    const bool rdma = std::ranges::any_of(
        pod.networks, [&](const PodView::Net& net) { return net.network != nullptr && in.views.rdma(*net.network); });
    if (rdma && gpus_of(*pod.pod) > 0) pods.push_back(&pod);
  }
  return pods;
}

struct IdRange {
  uint32_t first;
  uint32_t last;
};

// NVIDIA numbers its GPUs by generation, and from 1b00 (GP102) on they are Pascal or later. Before that only GP100 is,
// whose ids stand among those of the last Maxwells (17fd is one). By the PCI id database of 2026-08-22: each device of
// vendor 10de whose name begins with GP, GV, TU, GA, GH, AD or GB, but for functions that are no GPU (audio, USB).
constexpr IdRange kPascalsBefore1b00[] = {{0x15c2, 0x15c2}, {0x15f0, 0x15ff}, {0x1725, 0x1725}, {0x172e, 0x172f}};

bool is_before_pascal(const facts::PciDevice& gpu) {
  const auto id = whole_number<uint32_t>(gpu.device, 16);
  if (gpu.vendor != "10de" || !id) return false;
  const auto has_it = [&](const IdRange& range) { return *id >= range.first && *id <= range.last; };
  return *id < 0x1b00 && std::ranges::none_of(kPascalsBefore1b00, has_it);
}

void gpu_before_pascal(const Input& in, Findings& out) {
  std::set<std::string> reported;
  for (const PodView* pod : pods_for_gpudirect(in))
    for (const std::string& resource : pod->resources)
      for (const PoolPart& part : in.views.pool(resource))
        for (const facts::Gpu& gpu : part.graph->facts->gpus) {
          if (!is_before_pascal(gpu.pci) || !reported.insert(gpu.pci.device).second) continue;
          const std::string model = facts::short_model(gpu.pci.model);
          out.note(pod->pod->span,
                   fmt::format("GPU {} of {} ({}) is older than Pascal, the oldest generation that guides require for "
                               "GPUDirect RDMA: the traffic of {} may go through the host's memory",
                               gpu.pci.address, part.graph->facts->node,
                               model.empty() ? gpu.pci.vendor + ":" + gpu.pci.device : model, pod->pod->label()))
              .with_fix("nodes with GPUs of the Pascal generation (2016) or later");
        }
}

// A rail below this is the bottleneck of a job on GPUs that can do GPUDirect RDMA.
constexpr double kLeastGbps = 100;

void slow_rail(const Input& in, Findings& out) {
  std::set<std::pair<std::string, double>> reported;  // kinds of cards, with their rates
  for (const PodView* pod : pods_for_gpudirect(in))
    for (const std::string& resource : pod->resources)
      for (const PoolPart& part : in.views.pool(resource)) {
        const facts::Nic& nic = *part.pf->nic;
        const auto gbps = facts::port_speed(nic);
        const bool hardware = facts::hardware_port(nic) != nullptr;
        if (!gbps || !hardware || part.graph->facts->gpus.empty() || *gbps >= kLeastGbps) continue;
        if (!reported.emplace(nic.pci.device, *gbps).second) continue;
        out.note(
               part.group->from->span,
               fmt::format("policy {} makes rails for GPUs on {} of {}, which has {:g}G: {:g}G or more is recommended "
                           "between nodes with GPUs",
                           part.group->from->name, part.pf->name, part.graph->facts->node, *gbps, kLeastGbps))
            .note(pod->pod->span, "this pod has GPUs")
            .with_fix("select faster ports, where the nodes have them (railbed discover shows rates)");
      }
}

// The clouds whose machines the nodes of the run are; an empty name stands for a node that is none of them.
std::set<std::string> platforms_of(const Input& in) {
  std::set<std::string> platforms;
  for (const auto& [name, node] : in.catalog.nodes)
    if (!node->provider_id.empty()) platforms.insert(facts::platform_of(node->provider_id));
  for (const graph::Graph& graph : in.graphs) {
    const auto object = in.catalog.nodes.find(graph.facts->node);
    if (object == in.catalog.nodes.end() || object->second->provider_id.empty())
      platforms.insert(graph.facts->platform);
  }
  return platforms;
}

void foreign_addresses_in_a_cloud(const Input& in, Findings& out) {
  const std::set<std::string> platforms = platforms_of(in);
  if (platforms.size() != 1 || platforms.begin()->empty()) return;
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "macvlan" && network.type != "ipvlan") continue;
    const Value* type = network.plugins.front().find("type");
    const bool written = type != nullptr && type->span.known();
    out.warning(written ? type->span : name_span(*network.document),
                fmt::format("{} gives pods {} of their own on nodes of {}, whose network drops packets with addresses "
                            "that it did not assign: such pods may reach no other",
                            network.label(), network.type == "macvlan" ? "MAC addresses" : "IP addresses",
                            *platforms.begin()))
        .with_fix("type host-device with the interface that the cloud attached, or addresses that the cloud assigned");
  }
}

// DOCA's release and that of the drivers and libraries in it. Both are in the names of its packages
// (doca-host_3.0.0-058000-25.04-ubuntu2404_amd64.deb; doca-host-repo-…_2.5.0-0.0.1.2.5.0108.1.23.10.1.1.9.0) and, from
// 3.1 on, in the tags of the driver images of NVIDIA's network operator (doca3.4.0-26.04-0.8.6.0-0). 2.7 alone is by
// the archive of releases, which has it in April 2024. An LTS release keeps its drivers' number (2.5.1: 23.10).
struct DocaRelease {
  std::string_view doca;
  std::string_view drivers;
};

constexpr DocaRelease kDocaReleases[] = {
    {"2.5", "23.10"}, {"2.6", "24.01"}, {"2.7", "24.04"}, {"2.8", "24.07"}, {"2.9", "24.10"}, {"2.10", "25.01"},
    {"3.0", "25.04"}, {"3.1", "25.07"}, {"3.2", "25.10"}, {"3.3", "26.01"}, {"3.4", "26.04"},
};

// Quarters since 2000 of a release, of which there is one each quarter: "24.07-0.6.1.0-0", "doca3.1.0-25.07-0.9.7.0-0".
// Nothing for another numbering.
std::optional<int> quarter_of(std::string_view version) {
  while (!version.empty()) {
    const std::string_view part = version.substr(0, version.find('-'));
    version.remove_prefix(std::min(version.size(), part.size() + 1));
    int year = 0;
    int month = 0;
    if (part.size() != 5 || part[2] != '.') continue;
    const bool numbers = std::from_chars(part.data(), part.data() + 2, year).ptr == part.data() + 2 &&
                         std::from_chars(part.data() + 3, part.data() + 5, month).ptr == part.data() + 5;
    if (numbers && year >= 20 && month >= 1 && month <= 12) return year * 4 + (month - 1) / 3;
  }
  return std::nullopt;
}

// "25.07" of an image "nvcr.io/nvidia/doca/doca:3.1.0-full-rt-host"; empty for other images.
std::string_view drivers_of_image(std::string_view image) {
  const size_t tag = image.find("/doca:");
  if (tag == std::string_view::npos) return "";
  const std::string_view version = image.substr(tag + 6);
  for (const DocaRelease& row : kDocaReleases)
    if (version.starts_with(row.doca) && version.substr(row.doca.size()).starts_with('.')) return row.drivers;
  return "";
}

// A release of the kernel's side, and who has it.
struct KernelSide {
  std::string version;
  std::string where;
  doc::Span span;
};

std::vector<KernelSide> kernel_sides(const Input& in) {
  std::vector<KernelSide> sides;
  for (const Document& document : in.bundle.documents)
    if (const Value* version = at(document.value, "spec.ofedDriver.version");
        document.kind == "NicClusterPolicy" && version != nullptr && version->as_string() != nullptr)
      sides.push_back({*version->as_string(), document.label(), version->span});
  for (const facts::NodeFacts& node : in.nodes)
    if (const auto driver = node.driver_versions.find("mlx5_core"); driver != node.driver_versions.end())
      sides.push_back({driver->second, "node " + node.node, {}});
  return sides;
}

void releases_far_apart(const Input& in, Findings& out) {
  constexpr int kYear = 4;
  const std::vector<KernelSide> sides = kernel_sides(in);
  if (sides.empty()) return;
  std::set<std::string> reported;
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers) {
      const Value* image = container.value->find("image");
      if (image == nullptr || image->as_string() == nullptr) continue;
      const std::string_view libraries = drivers_of_image(*image->as_string());
      const auto user = quarter_of(libraries);
      const auto far = std::ranges::find_if(sides, [&](const KernelSide& side) {
        const auto kernel = quarter_of(side.version);
        return user && kernel && std::abs(*user - *kernel) >= kYear;
      });
      if (far == sides.end() || !reported.insert(*image->as_string()).second) continue;
      auto& said =
          out.note(image->span, fmt::format("this image has libraries of release {}, and the drivers of {} are of "
                                            "{}: releases a year apart are not tested together",
                                            libraries, far->where, far->version));
      if (far->span.known()) said.note(far->span, "the drivers");
      said.with_fix("an image and drivers of neighbouring releases");
    }
}

constexpr Rule kHardwareRules[] = {
    {"RB-HW-001", "a GPU that is too old for GPUDirect RDMA", Needs::kNothing, gpu_before_pascal},
    {"RB-HW-002", "a slow rail between nodes with GPUs", Needs::kNothing, slow_rail},
    {"RB-HW-003", "macvlan or ipvlan on the machines of a cloud", Needs::kNothing, foreign_addresses_in_a_cloud},
    {"RB-HW-004", "drivers and libraries of releases that are far apart", Needs::kNothing, releases_far_apart},
};

}  // namespace

std::span<const Rule> hardware_rules() {
  return kHardwareRules;
}

}  // namespace railbed::check
