// SPDX-License-Identifier: Apache-2.0
// What a node must have for RDMA between GPUs, and which networks its platform carries.
#include <algorithm>
#include <charconv>
#include <set>

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

// NVIDIA numbers its devices by generation, but for the first Pascal, 15f0 to 15ff, which stands before the last
// Maxwells: those end below 1b00.
bool is_before_pascal(const facts::PciDevice& gpu) {
  uint32_t id = 0;
  const std::string& text = gpu.device;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  if (gpu.vendor != "10de" || error != std::errc{} || end != text.data() + text.size()) return false;
  return id < 0x15f0 || (id >= 0x1600 && id < 0x1b00);
}

void gpu_before_pascal(const Input& in, Findings& out) {
  std::set<std::string> told;
  for (const PodView* pod : pods_for_gpudirect(in))
    for (const std::string& resource : pod->resources)
      for (const PoolPart& part : in.views.pool(resource))
        for (const facts::Gpu& gpu : part.graph->facts->gpus) {
          if (!is_before_pascal(gpu.pci) || !told.insert(gpu.pci.device).second) continue;
          const std::string model = facts::short_model(gpu.pci.model);
          out.note(pod->pod->span,
                   fmt::format(
                       "GPU {} of {} ({}) is older than Pascal, from which on drivers support GPUDirect RDMA: the "
                       "traffic of {} goes through the host's memory",
                       gpu.pci.address, part.graph->facts->node,
                       model.empty() ? gpu.pci.vendor + ":" + gpu.pci.device : model, pod->pod->label()))
              .with_fix("nodes with GPUs of the Pascal generation (2016) or later");
        }
}

// A rail below this is the bottleneck of a job on GPUs that can do GPUDirect RDMA.
constexpr double kLeastGbps = 100;

void slow_rail(const Input& in, Findings& out) {
  std::set<std::pair<std::string, double>> told;  // kinds of cards, with their rates
  for (const PodView* pod : pods_for_gpudirect(in))
    for (const std::string& resource : pod->resources)
      for (const PoolPart& part : in.views.pool(resource)) {
        const facts::Nic& nic = *part.pf->nic;
        const auto gbps = facts::port_speed(nic);
        const bool hardware = facts::hardware_port(nic) != nullptr;
        if (!gbps || !hardware || part.graph->facts->gpus.empty() || *gbps >= kLeastGbps) continue;
        if (!told.emplace(nic.pci.device, *gbps).second) continue;
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

constexpr Rule kHardwareRules[] = {
    {"RB-HW-001", "a GPU that is too old for GPUDirect RDMA", Needs::kNothing, gpu_before_pascal},
    {"RB-HW-002", "a slow rail between nodes with GPUs", Needs::kNothing, slow_rail},
    {"RB-HW-003", "macvlan or ipvlan on the machines of a cloud", Needs::kNothing, foreign_addresses_in_a_cloud},
};

}  // namespace

std::span<const Rule> hardware_rules() {
  return kHardwareRules;
}

}  // namespace railbed::check
