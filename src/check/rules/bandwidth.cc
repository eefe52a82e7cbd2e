// SPDX-License-Identifier: Apache-2.0
// The rates that networks promise VFs, against what their ports have.
#include <algorithm>
#include <cmath>
#include <set>

#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "facts/rails.h"

namespace railbed::check {
namespace {

using doc::Value;

// The least rate that a network gives each VF.
struct Promise {
  const Value* place = nullptr;
  int64_t mbps = 0;
};

Promise promise_of(const NetworkView& network) {
  if (network.type != "sriov" || network.plugins.empty()) return {};
  for (const std::string_view key : {"minTxRate", "min_tx_rate"}) {
    const auto rate = integer_at(network.plugins.front(), key);
    if (rate && *rate > 0) return {.place = network.plugins.front().find(key), .mbps = *rate};
  }
  return {};
}

// The VFs of a resource that pods use at once, of all networks.
int64_t vfs_wanted(const Input& in, std::string_view resource, int64_t nodes) {
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t wanted = 0;
  for (const PodView& pod : in.views.pods) {
    const int64_t each = std::max(pod.networks_with(resource), pod.pod->resource_count(resource));
    wanted = std::min(kMost, wanted + std::min(each, kMost >> 20) * (pod.pod->per_node ? nodes : pod.pod->replicas));
  }
  return wanted;
}

// A port whose VFs of one resource are promised more than it has. VFs of other resources on it do not count.
struct Overbooked {
  const PoolPart* part = nullptr;
  double gbps = 0;  // of the port
};

// The port with the least room for the promise; null where all have room, or nothing says their rates.
Overbooked overbooked(std::span<const PoolPart> parts, int64_t mbps, bool one_vf) {
  Overbooked worst;
  for (const PoolPart& part : parts) {
    const auto gbps = facts::port_speed(*part.pf->nic);
    if (!gbps || static_cast<double>(one_vf ? mbps : mbps * part.vfs) <= *gbps * 1000) continue;
    if (worst.part == nullptr || *gbps / part.vfs < worst.gbps / worst.part->vfs) worst = {&part, *gbps};
  }
  return worst;
}

std::string port_of(const Overbooked& at) {
  return fmt::format("{} of {} has {:g}G", at.part->pf->name, at.part->graph->facts->node, at.gbps);
}

void promises_more_than_the_port_has(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Promise promise = promise_of(network);
    const auto parts = in.views.pool(network.resource);
    if (promise.place == nullptr || parts.empty() || promise.mbps > INT32_MAX) continue;
    if (const Overbooked alone = overbooked(parts, promise.mbps, true); alone.part != nullptr) {
      out.error(promise.place->span, fmt::format("{} promises each VF {:g}G, and {}: no VF gets that", network.label(),
                                                 static_cast<double>(promise.mbps) / 1000, port_of(alone)))
          .with_fix(fmt::format("{} at most", static_cast<int64_t>(std::floor(alone.gbps * 1000))));
      continue;
    }
    const Overbooked at = overbooked(parts, promise.mbps, false);
    if (at.part == nullptr) continue;
    int64_t vfs = 0;
    for (const PoolPart& part : parts) vfs += part.vfs;
    const int64_t wanted = vfs_wanted(in, network.resource, static_cast<int64_t>(in.graphs.size()));
    const std::string text = fmt::format("{} promises each of {} VFs {:g}G, {:g}G together, and {}: {}",
                                         network.label(), at.part->vfs, static_cast<double>(promise.mbps) / 1000,
                                         static_cast<double>(promise.mbps * at.part->vfs) / 1000, port_of(at),
                                         wanted >= vfs ? "the pods use all of them, and none gets what is promised"
                                                       : "with all of them in use none gets what is promised");
    auto& reported = wanted >= vfs ? out.error(promise.place->span, text) : out.warning(promise.place->span, text);
    reported.with_fix(
        fmt::format("{} at most, or fewer VFs", static_cast<int64_t>(std::floor(at.gbps * 1000 / at.part->vfs))));
  }
}

// On a policy: its VFs share a port with VFs for other purposes, and its author knows it.
constexpr std::string_view kSharedPort = "railbed.dev/shared-port";

bool is_shared_on_purpose(const Input& in, const graph::Origin& policy) {
  return std::ranges::any_of(in.views.policies, [&](const PolicyView& view) {
    const Value* annotations = at(view.document->value, "metadata.annotations");
    const Value* shared = annotations == nullptr ? nullptr : annotations->find(kSharedPort);
    return shared != nullptr && shared->as_string() != nullptr && *shared->as_string() == "true" &&
           view.document->name == policy.name;
  });
}

std::string_view purpose_of(const graph::VfGroup& group) {
  if (group.device_type == DeviceType::kVfioPci) return "for programs with drivers of their own (vfio-pci)";
  return "without RDMA";
}

// VFs for RDMA need a lossless port, and what others send without flow control fills the same buffers.
void unlike_modes_on_one_port(const Input& in, Findings& out) {
  std::set<std::pair<std::string, std::string>> reported;  // of policies, once for all ports and nodes
  for (const graph::Graph& graph : in.graphs)
    for (const graph::PfWanted& pf : graph.pfs) {
      const auto rdma = std::ranges::find(pf.groups, true, &graph::VfGroup::rdma);
      const auto other = std::ranges::find(pf.groups, false, &graph::VfGroup::rdma);
      if (rdma == pf.groups.end() || other == pf.groups.end()) continue;
      if (is_shared_on_purpose(in, *rdma->from) || is_shared_on_purpose(in, *other->from)) continue;
      if (!reported.emplace(rdma->from->policy, other->from->policy).second) continue;
      out.note(other->from->span,
               fmt::format("{} of {} has VFs for RDMA (policy {}) and VFs {} (policy {}): they share its rate, its "
                           "buffers and its flow control",
                           pf.name, graph.facts->node, rdma->from->name, purpose_of(*other), other->from->name))
          .note(rdma->from->span, "VFs for RDMA")
          .with_fix(
              fmt::format("another port for one of them, or annotation {}: \"true\" on this policy", kSharedPort));
    }
}

constexpr Rule kBandwidthRules[] = {
    {"RB-RATE-001", "VFs that are promised more than their port has", Needs::kNothing, promises_more_than_the_port_has},
    {"RB-RATE-002", "VFs for RDMA beside others on one port", Needs::kNothing, unlike_modes_on_one_port},
};

}  // namespace

std::span<const Rule> bandwidth_rules() {
  return kBandwidthRules;
}

}  // namespace railbed::check
