// SPDX-License-Identifier: Apache-2.0
#include "generate/design.h"

#include <algorithm>
#include <bit>
#include <map>

#include "api/names.h"
#include "doc/text.h"
#include "facts/gpu_vendors.h"
#include "facts/host_use.h"
#include "facts/pcie_troubles.h"
#include "facts/rails.h"
#include "graph/graph.h"

namespace railbed::generate {
namespace {

using facts::LinkType;
using facts::Nic;
using facts::NodeFacts;

std::string label(const NodeFacts& node, const Nic& nic) {
  return fmt::format("{} of node {}", graph::pf_label(nic), node.node);
}

// The reason why a port cannot serve its rail now; empty when there is none.
std::string why_not(const NodeFacts& node, const Nic& nic, const DesignRequest& request) {
  if (request.profile != Profile::kHostDevice && nic.total_vfs.value_or(0) <= 0)
    return "it makes no VFs (sriov_totalvfs is 0 or absent: enable SR-IOV in the card's firmware)";
  if (const std::string use = facts::host_use(nic, node); !use.empty()) return "the host uses it: " + use;
  const facts::RdmaPort* port = facts::hardware_port(nic);
  if (port == nullptr && !request.soft_rdma) return "it has no RDMA device";
  if (port != nullptr && !port->state.empty() && port->state != "ACTIVE")
    return fmt::format("its port is {}", port->state);
  return "";
}

facts::RailChoice choice_of(const DesignRequest& request) {
  facts::RailChoice choice;
  if (request.profile == Profile::kInfiniband) choice.link_type = LinkType::kInfiniband;
  if (request.profile == Profile::kRoce) choice.link_type = LinkType::kEthernet;
  if (request.soft_rdma) choice.rdma = facts::RdmaNeed::kAny;
  return choice;
}

// A port with the number of its rail.
struct Numbered {
  Port port;
  int rail = 0;
  std::string hole;  // why the port cannot serve; empty: it can
};

// The node's rails, and notes about all other ports of the profile's kind.
std::vector<Numbered> rails_of(const NodeFacts& node, Design& design) {
  const facts::RailChoice choice = choice_of(design.request);
  const std::vector<facts::NicRole> roles = facts::roles_of(node, choice);
  std::vector<Numbered> rails;
  for (size_t i = 0; i < node.nics.size(); ++i) {
    const Nic& nic = node.nics[i];
    if (roles[i].rail) {
      rails.push_back({{&node, &nic}, *roles[i].rail, why_not(node, nic, design.request)});
      continue;
    }
    if (nic.link_type == LinkType::kUnknown || (choice.link_type && nic.link_type != *choice.link_type)) continue;
    design.notes.push_back(fmt::format("{} is left out: {}", label(node, nic), roles[i].reason));
  }
  const facts::GpuVendor& vendor = facts::gpu_vendor_of(node);
  if (&vendor != facts::gpu_vendors().data() && design.request.image == kTestImage)
    design.notes.push_back(
        fmt::format("node {}: GPUs of {}: the image of its test pod has no RDMA tools; --image names "
                    "another",
                    node.node, vendor.name));
  const size_t gpus = node.gpus.size();
  const bool has_lost_gpus = std::ranges::any_of(roles, [](const facts::NicRole& role) { return role.lost_gpu; });
  if (has_lost_gpus)
    design.notes.push_back(fmt::format("node {}: a GPU is missing; its rail stays", node.node));
  else if (gpus > 0 && rails.size() > gpus && rails.size() % gpus != 0)
    design.notes.push_back(fmt::format("node {}: {} identical ports, and no way to match them to its {} GPUs",
                                       node.node, rails.size(), gpus));
  return rails;
}

// Rail n is the same place on all nodes.
void align(std::vector<std::vector<Numbered>>& nodes) {
  std::vector<std::map<PciAddress, int>> numbers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const Numbered& one : nodes[i]) numbers[i].emplace(one.port.nic->pci.address, one.rail);
  facts::align_rails(numbers);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (Numbered& one : nodes[i]) one.rail = numbers[i].at(one.port.nic->pci.address);
}

// The operator's webhook refuses more VFs per PF of NVIDIA's cards.
constexpr int kWebhookLimit = 128;

void limit_vfs(const Nic& nic, Rail& rail) {
  if (rail.limit == VfLimit::kPods && nic.pci.vendor == "15b3" && rail.vfs > kWebhookLimit) {
    rail.vfs = kWebhookLimit;
    rail.limit = VfLimit::kWebhook;
  }
  if (rail.vfs > *nic.total_vfs) {
    rail.vfs = *nic.total_vfs;
    rail.limit = VfLimit::kCard;
  }
}

Rail new_rail(const std::string& name, int number, const DesignRequest& request) {
  if (request.profile == Profile::kHostDevice)
    return {.name = name, .number = number, .ports = {}, .vfs = 1, .limit = VfLimit::kWhole, .range = {}};
  return {.name = name,
          .number = number,
          .ports = {},
          .vfs = vfs_wanted(request),
          .limit = request.vfs > 0 ? VfLimit::kRequest : VfLimit::kPods,
          .range = {}};
}

void add_port(const Numbered& one, Design& design) {
  const std::string name = fmt::format("rail{}", one.rail);
  if (!one.hole.empty()) {
    design.notes.push_back(
        fmt::format("{} is left out of {}: {}", label(*one.port.node, *one.port.nic), name, one.hole));
    return;
  }
  auto rail = std::ranges::find(design.rails, one.rail, &Rail::number);
  if (rail == design.rails.end()) rail = design.rails.insert(rail, new_rail(name, one.rail, design.request));
  rail->ports.push_back(one.port);
  if (design.request.profile != Profile::kHostDevice) limit_vfs(*one.port.nic, *rail);
}

void note_speeds(const Rail& rail, Design& design) {
  const auto speed = [](const Port& port) { return facts::port_speed(*port.nic); };
  const Port& first = rail.ports.front();
  for (const Port& port : rail.ports)
    if (speed(port) && speed(first) && *speed(port) != *speed(first))
      design.notes.push_back(fmt::format("{}: {:g}G on node {}, {:g}G on node {}", rail.name, *speed(first),
                                         first.node->node, *speed(port), port.node->node));
}

// Rail n has the port number n of every node that can use it.
void make_rails(const std::vector<NodeFacts>& nodes, Design& design) {
  std::vector<std::vector<Numbered>> numbered;
  for (const NodeFacts& node : nodes) numbered.push_back(rails_of(node, design));
  align(numbered);
  for (const std::vector<Numbered>& rails : numbered)
    for (const Numbered& one : rails) {
      if (one.hole.empty() && (design.nodes.empty() || design.nodes.back() != one.port.node))
        design.nodes.push_back(one.port.node);
      add_port(one, design);
    }
  std::ranges::sort(design.rails, {}, &Rail::number);
  for (const Rail& rail : design.rails) {
    if (rail.ports.size() < design.nodes.size())
      design.notes.push_back(
          fmt::format("{} exists on {} of {} nodes only", rail.name, rail.ports.size(), design.nodes.size()));
    if (rail.limit == VfLimit::kCard || rail.limit == VfLimit::kWebhook)
      design.notes.push_back(
          fmt::format("{}: {} VFs instead of {}: {}", rail.name, rail.vfs, vfs_wanted(design.request),
                      rail.limit == VfLimit::kCard ? "a card of it makes no more" : "the operator takes no more"));
    note_speeds(rail, design);
  }
}

// Node names become names of objects, and part of other names.
Result<void> check_names(const std::vector<NodeFacts>& nodes) {
  for (const NodeFacts& node : nodes)
    if (!api::is_dns_subdomain(node.node)) {
      Error error{.code = Code::kInvalid,
                  .message = fmt::format("node \"{}\": not a valid Kubernetes node name", doc::printable(node.node)),
                  .context = {}};
      error.hint = "railbed discover --node NAME writes facts with another name";
      return std::unexpected(std::move(error));
    }
  return {};
}

bool has_only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.contains(c);
  });
}

// Of "KEY" or "KEY=VALUE", as kubectl takes them.
Result<std::optional<api::Taint>> taint_of(const std::string& text) {
  if (text.empty()) return std::optional<api::Taint>();
  const size_t equals = text.find('=');
  api::Taint taint{.key = text.substr(0, equals), .effect = "NoSchedule"};
  if (equals != std::string::npos) taint.value = text.substr(equals + 1);
  if (taint.key.empty() || !has_only(taint.key, "-_./") || !has_only(taint.value, "-_."))
    return fail(Code::kInvalid, "\"{}\" is not KEY or KEY=VALUE of a taint (letters, digits, '-', '_' and '.')",
                doc::printable(text));
  return std::optional(std::move(taint));
}

Result<void> give_ranges(Design& design) {
  const IpPrefix all = TRY(IpPrefix::parse(design.request.addresses).context("the rails' addresses"));
  IpAddress next = all.network();
  for (Rail& rail : design.rails) {
    // The network address and the broadcast address cannot be assigned.
    const auto wanted = static_cast<uint64_t>(addresses_needed(rail) + addresses_needed(rail) / 5 + 2);
    const int host_bits = std::max(8, static_cast<int>(std::bit_width(wanted - 1)));
    rail.range = {next, next.bits() - host_bits};
    const auto after = next.plus(uint64_t{1} << host_bits);
    if (rail.range.length < all.length || !all.contains(rail.range.last()) || !after)
      return fail(Code::kExhausted, "{} is too small for {} rails of {} addresses each", design.request.addresses,
                  design.rails.size(), wanted);
    next = *after;
  }
  return {};
}

Result<void> check_pool(const Design& design) {
  for (const Rail& rail : design.rails)
    if (rail.vfs < vfs_needed(design))
      return fail(Code::kExhausted, "{} pods per node need {} VFs of {} per node, there are {}",
                  design.request.pods_per_node, vfs_needed(design), rail.name, rail.vfs);
  return {};
}

}  // namespace

std::string rails_per_gpu(const Design& design, const facts::NodeFacts& node) {
  const auto rails = static_cast<size_t>(std::ranges::count_if(design.rails, [&](const Rail& rail) {
    return std::ranges::any_of(rail.ports, [&](const Port& port) { return port.node == &node; });
  }));
  const size_t gpus = node.gpus.size();
  std::string text = fmt::format("node {}: {} rail{} for {} GPU{}", node.node, rails, rails == 1 ? "" : "s", gpus,
                                 gpus == 1 ? "" : "s");
  if (rails < gpus) text += ": GPUs share rails, or a rail is missing";
  if (rails > gpus) text += rails % gpus == 0 ? fmt::format(": {} for each", rails / gpus) : ": more rails than GPUs";
  return text;
}

int addresses_needed(const Rail& rail) {
  return rail.vfs * static_cast<int>(rail.ports.size());
}

int vfs_needed(const Design& design) {
  return design.request.pods_per_node * design.request.vfs_per_pod;
}

int vfs_wanted(const DesignRequest& request) {
  if (request.vfs > 0) return request.vfs;
  const int needed = request.pods_per_node * request.vfs_per_pod;
  return needed + (needed * request.spare_percent + 99) / 100;
}

std::string_view limit_name(VfLimit limit) {
  switch (limit) {
    case VfLimit::kRequest:
      return "--vfs";
    case VfLimit::kPods:
      return "pods and spare";
    case VfLimit::kCard:
      return "card";
    case VfLimit::kWebhook:
      return "webhook";
    case VfLimit::kWhole:
      return "whole port";
  }
  return "";
}

std::optional<double> share_gbps(const Design& design, const Rail& rail) {
  std::optional<double> least;
  for (const Port& port : rail.ports) {
    std::optional<double> speed = facts::port_speed(*port.nic);
    if (!speed) continue;
    if (port.nic->pci.link) speed = std::min(*speed, facts::pcie_gbps(*port.nic->pci.link));
    if (!least || *speed < *least) least = speed;
  }
  if (least && rail.limit != VfLimit::kWhole) *least /= vfs_needed(design);
  return least;
}

Result<Design> design(const std::vector<NodeFacts>& nodes, const DesignRequest& request) {
  Design made{.request = request, .nodes = {}, .rails = {}, .notes = {}};
  TRY(check_names(nodes));
  made.taint = TRY(taint_of(request.taint));
  make_rails(nodes, made);
  if (made.rails.empty()) {
    Error error{.code = Code::kNotFound, .message = "no port of these nodes fits the profile", .context = {}};
    for (const std::string& note : made.notes) error.message += "\n  " + note;
    if (made.notes.empty()) error.message += ": none has its link type";
    error.hint = "railbed discover shows the ports; --profile names another kind, --soft-rdma takes ports without RDMA";
    return std::unexpected(std::move(error));
  }
  TRY(check_pool(made));
  TRY(give_ranges(made));
  return made;
}

}  // namespace railbed::generate
