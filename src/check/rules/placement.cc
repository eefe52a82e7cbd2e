// SPDX-License-Identifier: Apache-2.0
// Where pods with rails may run: taints and dedicated nodes, processors of their own, and ports that one pod takes.
#include "api/placement.h"

#include <algorithm>
#include <optional>
#include <set>

#include "api/names.h"
#include "check/rules/device_lists.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "facts/kubelet.h"
#include "graph/selector.h"
#include "schema/quantity.h"

namespace railbed::check {
namespace {

using doc::Value;

// At most four names, and that there are more.
std::string some_of(const std::vector<std::string>& names) {
  const size_t shown = std::min<size_t>(names.size(), 4);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "),
                     shown < names.size() ? ", …" : "");
}

// A node of the run: with facts, or as a Node object alone.
struct KnownNode {
  std::string name;
  const graph::Labels* labels = nullptr;
  const std::vector<api::Taint>* taints = nullptr;  // null: not known
};

std::vector<KnownNode> known_nodes(const Input& in) {
  std::vector<KnownNode> nodes;
  std::set<std::string_view> with_facts;
  const auto taints_of = [](const api::Node& node) { return node.taints ? &*node.taints : nullptr; };
  for (const graph::Graph& graph : in.graphs) {
    const auto object = in.catalog.nodes.find(graph.facts->node);
    nodes.push_back({.name = graph.facts->node,
                     .labels = &graph.labels,
                     .taints = object == in.catalog.nodes.end() ? nullptr : taints_of(*object->second)});
    with_facts.insert(graph.facts->node);
  }
  for (const auto& [name, node] : in.catalog.nodes)
    if (!with_facts.contains(name))
      nodes.push_back({.name = name, .labels = &node->meta.labels, .taints = taints_of(*node)});
  return nodes;
}

bool has_rail(const Input& in, const PodView& pod) {
  return !pod.resources.empty() || std::ranges::any_of(pod.networks, [&](const PodView::Net& net) {
    return net.network != nullptr && in.views.rdma(*net.network);
  });
}

// An operator makes the pod of these fields, and may add tolerations and resources.
bool is_made_by_operator(const PodTemplate& pod) {
  return pod.containers.empty() ||
         std::ranges::any_of(pod.containers, [](const Container& container) { return container.made; });
}

// Whether a policy makes the resource on the node. One that other producers make may be anywhere.
bool offers(const Input& in, const KnownNode& node, std::string_view resource) {
  const auto policies = in.views.policies_of(resource);
  return policies.empty() || std::ranges::any_of(policies, [&](const PolicyView* policy) {
           return graph::labels_match(doc::text_map_at(*policy->spec, "nodeSelector"), *node.labels);
         });
}

// What the pod itself says of nodes.
struct PodWishes {
  explicit PodWishes(const PodTemplate& pod)
      : node_name(text_at(*pod.spec, "nodeName")),
        node_selector(doc::text_map_at(*pod.spec, "nodeSelector")),
        placement(api::read_placement(*pod.spec)) {}

  bool admit(const KnownNode& node) const {
    if (!node_name.empty()) return node.name == node_name;
    return graph::labels_match(node_selector, *node.labels) &&
           api::affinity_mismatch(placement.affinity, *node.labels, node.name).empty();
  }
  const api::Taint* against(const KnownNode& node) const {
    if (node.taints == nullptr) return nullptr;
    return api::kept_off_by(*node.taints, placement.tolerations,
                            node_name.empty() ? api::Assigned::kNo : api::Assigned::kYes);
  }

  std::string node_name;
  graph::Labels node_selector;
  api::Placement placement;
};

// The nodes that would do but for their taints; `taint` is the first of those.
struct KeptOff {
  const api::Taint* taint = nullptr;
  std::vector<std::string> nodes;
};

// Nothing where the pod may run on one of the nodes, or none would do anyway.
std::optional<KeptOff> kept_off_all(const Input& in, std::span<const KnownNode> nodes, const PodView& pod,
                                    const PodWishes& wishes) {
  KeptOff kept;
  for (const KnownNode& node : nodes) {
    if (!wishes.admit(node)) continue;
    if (!std::ranges::all_of(pod.resources, [&](const std::string& one) { return offers(in, node, one); })) continue;
    const api::Taint* taint = wishes.against(node);
    if (taint == nullptr) return std::nullopt;
    if (kept.taint == nullptr) kept.taint = taint;
    kept.nodes.push_back(node.name);
  }
  if (kept.taint == nullptr) return std::nullopt;
  return kept;
}

void no_taint_tolerated(const Input& in, Findings& out) {
  const std::vector<KnownNode> nodes = known_nodes(in);
  const bool tainted =
      std::ranges::any_of(nodes, [](const KnownNode& node) { return node.taints != nullptr && !node.taints->empty(); });
  if (!tainted) return;
  for (const PodView& pod : in.views.pods) {
    if (!has_rail(in, pod) || is_made_by_operator(*pod.pod)) continue;
    const PodWishes wishes(*pod.pod);
    const auto kept = kept_off_all(in, nodes, pod, wishes);
    if (!kept) continue;
    const std::string where = kept->nodes.size() == 1 ? "the node with its rails" : "the nodes with its rails";
    const std::string_view end = wishes.node_name.empty() ? "it waits forever" : "the kubelet ends it";
    // An API server may have the admission plugin that tolerates a taint whose key is a resource that the pod requests.
    const bool may_be_added = pod.pod->resource_count(kept->taint->key) > 0;
    const std::string text =
        may_be_added
            ? fmt::format(
                  "{} does not tolerate the taint {} of {} ({}): it waits forever, unless the admission plugin "
                  "ExtendedResourceToleration runs",
                  pod.pod->label(), api::to_string(*kept->taint), where, some_of(kept->nodes))
            : fmt::format("{} does not tolerate the taint {} of {} ({}): {}", pod.pod->label(),
                          api::to_string(*kept->taint), where, some_of(kept->nodes), end);
    auto& reported = may_be_added ? out.note(pod.pod->span, text) : out.error(pod.pod->span, text);
    reported.note(kept->taint->span, "this taint")
        .with_fix(fmt::format("tolerations: [{}]", api::toleration_for(*kept->taint)));
  }
}

// A taint that says what a node is for. Those of roles keep all workloads off control planes.
const api::Taint* dedicating_taint(const KnownNode& node) {
  for (const api::Taint& taint : *node.taints)
    if ((taint.effect == "NoSchedule" || taint.effect == "NoExecute") && api::is_lasting(taint) &&
        !taint.key.starts_with("node-role.kubernetes.io/"))
      return &taint;
  return nullptr;
}

void hole_in_a_pool(const Input& in, Findings& out) {
  const std::vector<KnownNode> nodes = known_nodes(in);
  std::set<std::vector<std::string>> reported;
  for (const PolicyView& policy : in.views.policies) {
    if (policy.ignored) continue;
    const graph::Labels selector = doc::text_map_at(*policy.spec, "nodeSelector");
    const api::Taint* taint = nullptr;
    std::vector<std::string> dedicated;
    std::vector<std::string> open;
    for (const KnownNode& node : nodes) {
      if (node.taints == nullptr || !graph::labels_match(selector, *node.labels)) continue;
      const api::Taint* one = dedicating_taint(node);
      if (taint == nullptr) taint = one;
      (one == nullptr ? open : dedicated).push_back(node.name);
    }
    if (taint == nullptr || open.empty() || !reported.insert(open).second) continue;
    const Value* where = policy.spec->find("nodeSelector");
    out.note(where == nullptr ? name_span(*policy.document) : where->span,
             fmt::format("policy {} makes VFs on {}, which {} the taint {}, and on {}, which {} none: pods without "
                         "rails may fill {}",
                         policy.document->name, some_of(dedicated), dedicated.size() == 1 ? "has" : "have",
                         api::to_string(*taint), some_of(open), open.size() == 1 ? "has" : "have",
                         open.size() == 1 ? "it" : "them"))
        .note(taint->span, "this taint")
        .with_fix(fmt::format("the same taint on all of them, or a nodeSelector that leaves out {}", some_of(open)));
  }
}

const Value* quantity_in(const Container& container, std::string_view map, std::string_view name) {
  const Value* list = at(*container.value, map);
  return list == nullptr ? nullptr : list->find(name);
}

std::string quantity_text(const Value& value) {
  return value.as_string() != nullptr ? *value.as_string() : std::string(value.written());
}

bool alike_quantities(const Value& one, const Value& other) {
  if (one == other || quantity_text(one) == quantity_text(other)) return true;
  const auto left = schema::whole_quantity(one);
  const auto right = schema::whole_quantity(other);
  return !left || !right || *left == *right;  // what is not a whole number is not compared here
}

// Why the container keeps its pod out of the class Guaranteed; empty: it does not.
std::string why_not_guaranteed(const Container& container) {
  for (const std::string_view name : {"cpu", "memory"}) {
    const Value* limit = quantity_in(container, "resources.limits", name);
    const Value* request = quantity_in(container, "resources.requests", name);
    if (limit == nullptr) return fmt::format("container {} has no limit of {}", container.name, name);
    if (request != nullptr && !alike_quantities(*request, *limit))
      return fmt::format("container {} requests less {} than its limit", container.name, name);
  }
  return "";
}

// Why none of the pod's containers gets processors of its own under the policy "static"; empty: one does.
std::string why_shared(const PodTemplate& pod) {
  std::string fraction;
  for (const Container& container : pod.containers) {
    if (std::string why = why_not_guaranteed(container); !why.empty()) return why;
    const Value* cpu = quantity_in(container, "resources.limits", "cpu");
    const bool whole = schema::whole_quantity(*cpu).value_or(0) > 0;
    if (whole && !container.init) return "";
    if (!container.init) fraction = fmt::format("cpu of container {} is not a whole number", container.name);
  }
  return fraction;
}

// The limits to write for a container: what it has, where that is right.
std::string limits_for(const Container& container) {
  const auto given = [&](std::string_view name) {
    const Value* limit = quantity_in(container, "resources.limits", name);
    return limit != nullptr ? limit : quantity_in(container, "resources.requests", name);
  };
  const Value* cpu = given("cpu");
  const Value* memory = given("memory");
  const int64_t cores = cpu == nullptr ? 0 : schema::whole_quantity(*cpu).value_or(0);
  return fmt::format("requests and limits alike in each container: {{cpu: \"{}\", memory: {}}}", cores > 0 ? cores : 8,
                     memory == nullptr ? "64Gi" : quantity_text(*memory));
}

// The nodes on which the pod may run: the first whose kubelet gives some pods processors of their own, and the first
// whose kubelet is not known. Null: none is like that.
struct Kubelets {
  const graph::Graph* pinning = nullptr;
  const graph::Graph* unknown = nullptr;
};

Kubelets kubelets_for(const Input& in, const PodView& pod) {
  Kubelets found;
  for (const graph::Graph* node : nodes_for(in, *pod.pod)) {
    const bool is_unknown = !node->facts->kubelet;
    if (!is_unknown && node->facts->kubelet->cpu_manager != "static") continue;
    const bool has_its_vfs = std::ranges::all_of(pod.resources, [&](const std::string& resource) {
      const auto parts = in.views.pool(resource);
      return std::ranges::any_of(parts, [&](const PoolPart& part) { return part.graph == node; });
    });
    if (!has_its_vfs) continue;
    const graph::Graph*& first = is_unknown ? found.unknown : found.pinning;
    if (first == nullptr) first = node;
  }
  return found;
}

// Pods that would get no processors of their own if the kubelets of these nodes were configured to give some.
struct UnknownCores {
  std::vector<std::string> pods;
  std::set<std::string> nodes;

  void report(Findings& out) const {
    if (pods.empty()) return;
    const std::vector<std::string> names(nodes.begin(), nodes.end());
    const std::string_view its = pods.size() == 1 ? "its" : "their";
    out.leave_open(
        fmt::format("whether {} could have processors of {} own, which {} limits rule out: the facts of {} "
                    "have no configuration of the kubelet ({}, which only root may read)",
                    some_of(pods), its, its, some_of(names), facts::kKubeletConfig));
  }
};

void no_cores_of_its_own(const Input& in, Findings& out) {
  UnknownCores unknown;
  for (const PodView& pod : in.views.pods) {
    const bool rdma = std::ranges::any_of(
        pod.networks, [&](const PodView::Net& net) { return net.network != nullptr && in.views.rdma(*net.network); });
    if (!rdma || is_made_by_operator(*pod.pod) || pod.pod->virtual_machine) continue;
    const Kubelets kubelets = kubelets_for(in, pod);
    const graph::Graph* node = kubelets.pinning;
    if (node == nullptr && kubelets.unknown == nullptr) continue;
    const std::string why = why_shared(*pod.pod);
    if (why.empty()) continue;
    if (node == nullptr) {
      unknown.pods.push_back(pod.pod->label());
      unknown.nodes.insert(kubelets.unknown->facts->node);
      continue;
    }
    const auto main = std::ranges::find(pod.pod->containers, false, &Container::init);
    if (main == pod.pod->containers.end()) continue;
    const Value* resources = main->value->find("resources");
    out.note(
           resources == nullptr ? pod.pod->span : resources->span,
           fmt::format("{} gets no processors of its own, although the kubelet of {} has cpuManagerPolicy static: {}; "
                       "its threads may run far from its VFs",
                       pod.pod->label(), node->facts->node, why))
        .with_fix(limits_for(*main));
  }
  unknown.report(out);
}

bool is_no_surge(const Value* value) {
  if (value == nullptr) return false;
  return (value->as_int() != nullptr && *value->as_int() == 0) ||
         (value->as_string() != nullptr && (*value->as_string() == "0" || *value->as_string() == "0%"));
}

// Whether an update makes a new pod before it ends an old one.
bool surges(const PodTemplate& pod) {
  if (pod.document->kind == "LLMInferenceService") return true;  // its pods are of Deployments
  return pod.document->kind == "Deployment" && text_at(pod.document->value, "spec.strategy.type") != "Recreate" &&
         !is_no_surge(at(pod.document->value, "spec.strategy.rollingUpdate.maxSurge"));
}

// The device of the host that the network moves into a pod: by name or by address.
struct HostDevice {
  const Value* place = nullptr;
  std::string name;
  std::optional<PciAddress> address;
};

std::optional<HostDevice> host_device_of(const NetworkView& network) {
  if (network.type != "host-device" || !network.resource.empty()) return std::nullopt;
  HostDevice device;
  for (const std::string_view key : {"device", "pciBusID"}) {
    const Value* value = network.plugins.front().find(key);
    const std::string text(text_at(network.plugins.front(), key));
    if (value == nullptr || text.empty() || api::has_placeholder(text)) continue;
    device.place = value;
    device.name = text;
    if (key == "pciBusID") {
      const Result<PciAddress> address = PciAddress::parse(text);
      if (!address) return std::nullopt;
      device.address = *address;
    }
    return device;
  }
  return std::nullopt;
}

bool has_device(const facts::NodeFacts& node, const HostDevice& device, const Settings& settings) {
  if (device.address)
    return std::ranges::any_of(node.nics, [&](const facts::Nic& nic) {
      return nic.pci.address == *device.address ||
             std::ranges::any_of(nic.vfs, [&](const facts::Vf& vf) { return vf.pci.address == *device.address; });
    });
  const std::vector<std::string> names = interfaces_of(node);
  const auto has_alternative_name = [&](const facts::NetInterface& netdev) {
    return std::ranges::find(netdev.alt_names, device.name) != netdev.alt_names.end();
  };
  return settings.lent_interfaces.contains(device.name) || std::ranges::find(names, device.name) != names.end() ||
         std::ranges::any_of(
             node.nics, [&](const facts::Nic& nic) { return std::ranges::any_of(nic.netdevs, has_alternative_name); });
}

// The pods that use a host's device, and the nodes that have it and admit one of them.
struct DeviceUse {
  int64_t pods = 0;
  std::set<std::string> nodes;
  const PodView* first = nullptr;
  const PodView* surging = nullptr;
};

DeviceUse use_of(const Input& in, const NetworkView& network, const HostDevice& device) {
  DeviceUse use;
  for (const size_t user : network.users) {
    const PodView& pod = in.views.pods[user];
    if (pod.pod->replicas == 0) continue;
    std::set<std::string> here;
    for (const graph::Graph* node : nodes_for(in, *pod.pod))
      if (has_device(*node->facts, device, in.settings)) here.insert(node->facts->node);
    use.pods += pod.pod->per_node ? static_cast<int64_t>(here.size()) : pod.pod->replicas;
    use.nodes.merge(here);
    if (use.first == nullptr) use.first = &pod;
    if (use.surging == nullptr && surges(*pod.pod)) use.surging = &pod;
  }
  return use;
}

void more_pods_than_devices(const Input& in, Findings& out) {
  if (in.nodes.empty()) return;  // RB-RDMA-014 has a note then
  for (const NetworkView& network : in.views.networks) {
    const auto device = host_device_of(network);
    if (!device) continue;
    const DeviceUse use = use_of(in, network, *device);
    const auto nodes = static_cast<int64_t>(use.nodes.size());
    if (use.first == nullptr || nodes == 0) continue;  // RB-RDMA-014 names nodes without it
    const std::string sums = fmt::format("{} pods use {}, and {} node{} {} {}", use.pods, network.label(), nodes,
                                         nodes == 1 ? "" : "s", nodes == 1 ? "has" : "have", device->name);
    if (use.pods > nodes)
      out.error(device->place->span,
                fmt::format("{}: a host's device goes to one pod at a time, the others do not start", sums))
          .note(use.first->pod->span, "the first that uses it")
          .with_fix("more nodes, fewer pods, or VFs");
    else if (use.pods == nodes && use.surging != nullptr)
      out.note(device->place->span, fmt::format("{}: an update of {} makes a new pod before an old one goes, and it "
                                                "finds none",
                                                sums, use.surging->pod->label()))
          .note(use.surging->pod->span, "updated by rolling")
          .with_fix("strategy type Recreate or maxSurge: 0, or a node more than pods");
  }
}

constexpr Rule kPlacementRules[] = {
    {"RB-PLACE-001", "a pod that tolerates none of the nodes with its rails", Needs::kNothing, no_taint_tolerated},
    {"RB-PLACE-002", "a dedicated pool with nodes that have no taint", Needs::kNothing, hole_in_a_pool},
    {"RB-PLACE-003", "a pod that gets no processors of its own", Needs::kNothing, no_cores_of_its_own},
    {"RB-PLACE-004", "more pods than nodes with the device that each takes whole", Needs::kNothing,
     more_pods_than_devices},
};

}  // namespace

std::span<const Rule> placement_rules() {
  return kPlacementRules;
}

}  // namespace railbed::check
