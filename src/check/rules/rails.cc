// SPDX-License-Identifier: Apache-2.0
// Rails: how many a pod has, where they lead, and how close the GPUs are.
#include <algorithm>
#include <map>
#include <set>

#include "base/well_known.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

// The VFs that the pod requests or uses, over all its networks, if one of them is for RDMA. A network that is not for
// RDMA, or does not exist, is another rule's mistake.
int64_t rails_of(const Input& in, const PodView& pod) {
  const auto is_for_rdma = [&](const PodView::Net& net) {
    return net.network != nullptr && in.views.rdma(*net.network);
  };
  if (std::ranges::none_of(pod.networks, is_for_rdma)) return 0;
  int64_t rails = 0;
  std::set<std::string> seen;
  for (const PodView::Net& net : pod.networks) {
    if (net.network == nullptr || net.network->resource.empty()) {
      ++rails;
    } else if (seen.insert(net.network->resource).second) {
      rails += std::max(pod.networks_with(net.network->resource), pod.pod->resource_count(net.network->resource));
    }
  }
  return rails;
}

// The place where the pod requests GPUs.
doc::Span gpu_span(const PodTemplate& pod) {
  for (const Container& container : pod.containers)
    for (const std::string_view name : {kNvidiaGpuResource, "amd.com/gpu"})
      if (const Value* count = container.resource(name)) return count->span;
  return pod.span;
}

// The number of possible rails on the node that has most.
int64_t most_ports(const Input& in, const PodView& pod) {
  int64_t most = 0;
  for (const graph::Graph& graph : in.graphs) {
    std::set<const facts::Nic*> ports;
    for (const std::string& resource : pod.resources)
      for (const PoolPart& part : in.views.pool(resource))
        if (part.graph == &graph) {
          for (const facts::Nic& nic : graph.facts->nics)
            if (nic.total_vfs.value_or(0) > 0 && nic.link_type == part.pf->nic->link_type &&
                nic.pci.device == part.pf->nic->pci.device)
              ports.insert(&nic);
        }
    most = std::max(most, static_cast<int64_t>(ports.size()));
  }
  return most;
}

void fewer_rails_than_gpus(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    const int64_t gpus = gpus_of(*pod.pod);
    const int64_t rails = rails_of(in, pod);
    if (rails == 0 || gpus < 2 || rails >= gpus) continue;
    const int64_t ports = most_ports(in, pod);
    if (ports > 0 && rails >= std::min(ports, gpus)) continue;  // the node has no more ports or GPUs
    const bool even = gpus % rails == 0;
    const std::string text =
        fmt::format("{} has {} GPUs and {} rail{}{}", pod.pod->label(), gpus, rails, rails == 1 ? "" : "s",
                    even ? fmt::format(": {} GPUs share {}", gpus / rails, rails == 1 ? "it" : "each")
                         : ": GPUs share them unevenly, and all wait for the slowest");
    auto& reported =
        gpus / rails >= 4 || !even ? out.warning(gpu_span(*pod.pod), text) : out.note(gpu_span(*pod.pod), text);
    reported.note(pod.networks.front().selection->name.span, "its networks")
        .with_fix("a network and a VF per GPU where the node has a port for each");
  }
}

// Whether a container requests a resource and has another limit: an API server refuses it (RB-ADM-001), and one of the
// two numbers is the right one.
bool contradicts_itself(const PodTemplate& pod, const std::string& resource) {
  const auto text_of = [](const Value& value) {
    return value.as_string() != nullptr ? *value.as_string() : std::string(value.written());
  };
  return std::ranges::any_of(pod.containers, [&](const Container& container) {
    const Value* resources = container.value->find("resources");
    const Value* limits = resources == nullptr ? nullptr : resources->find("limits");
    const Value* requests = resources == nullptr ? nullptr : resources->find("requests");
    const Value* limit = limits == nullptr ? nullptr : limits->find(resource);
    const Value* request = requests == nullptr ? nullptr : requests->find(resource);
    return limit != nullptr && request != nullptr && text_of(*limit) != text_of(*request);
  });
}

void networks_and_vfs_differ(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const std::string& resource : pod.resources) {
      const int64_t asked = pod.pod->resource_count(resource);
      const int64_t used = pod.networks_with(resource);
      if (asked == 0 || asked == used || contradicts_itself(*pod.pod, resource)) continue;
      const Value* where = nullptr;
      for (const Container& container : pod.pod->containers)
        if (const Value* count = container.resource(resource); where == nullptr) where = count;
      if (where == nullptr) continue;
      auto& reported =
          asked < used
              ? out.error(where->span,
                          fmt::format("{} networks of {} use {}, but it requests {}: the {} network gets no VF and the "
                                      "pod does not start",
                                      used, pod.pod->label(), resource, asked, asked + 1 == used ? "last" : "later"))
              : out.warning(where->span, fmt::format("{} requests {} VFs of {} but uses {}: the others stay unused",
                                                     pod.pod->label(), asked, resource, used));
      reported.note(pod.networks.front().selection->name.span, "its networks")
          .with_fix(fmt::format("{}: {}", resource, used));
      for (const PodView::Net& net : pod.networks)
        if (net.network != nullptr && net.network->resource == resource)
          reported.rests_on(name_span(*net.network->document));
    }
}

std::string nearest_kind(const facts::Nic& nic) {
  return nic.gpus.empty() ? "" : nic.gpus.front().kind;
}

bool is_far(std::string_view kind) {
  return kind == "SYS" || kind == "NODE" || kind == "PHB";
}

// Resources whose VFs are used by pods with GPUs.
std::set<std::string_view> used_by_gpu_pods(const Input& in) {
  std::set<std::string_view> resources;
  for (const PodView& pod : in.views.pods)
    if (gpus_of(*pod.pod) > 0) resources.insert(pod.resources.begin(), pod.resources.end());
  return resources;
}

void far_from_gpus(const Input& in, Findings& out) {
  const auto used = used_by_gpu_pods(in);
  for (const auto& [resource, parts] : in.views.pools) {
    if (!used.contains(resource)) continue;
    for (const PoolPart& part : parts) {
      const std::string kind = nearest_kind(*part.pf->nic);
      if (!is_far(kind)) continue;
      const facts::Nic* better = nullptr;
      for (const facts::Nic& nic : part.graph->facts->nics)
        if (nic.total_vfs.value_or(0) > 0 && !nearest_kind(nic).empty() && !is_far(nearest_kind(nic))) better = &nic;
      if (better == nullptr) continue;
      const graph::Origin& policy = *part.group->from;
      out.warning(policy.span, fmt::format("policy {} gives GPU pods VFs of {} on {}, whose nearest GPU is "
                                           "{} away; {} is {} from one",
                                           policy.name, part.pf->name, part.graph->facts->node, kind,
                                           graph::pf_name(*better), nearest_kind(*better)))
          .with_fix("select PFs on the PCI switch of the GPUs (railbed discover shows the distances)");
      break;  // one node is enough for the finding
    }
  }
}

// The fabric of a PF's first active port; empty where unknown.
std::string fabric_of(const PoolPart& part) {
  for (const facts::Fabric& fabric : part.graph->facts->fabrics)
    for (const std::string& port : fabric.ports)
      for (const facts::RdmaDevice& device : part.pf->nic->rdma)
        if (port.starts_with(device.name + "/"))
          return fmt::format("{:x}/{}", fabric.subnet_prefix, fabric.sm_lid.value_or(0));
  return {};
}

void one_resource_two_fabrics(const Input& in, Findings& out) {
  for (const auto& [resource, parts] : in.views.pools) {
    const PoolPart* first = nullptr;
    for (const PoolPart& part : parts) {
      const std::string fabric = fabric_of(part);
      if (fabric.empty()) continue;
      if (first == nullptr || first->graph != part.graph) {
        first = &part;
        continue;
      }
      if (fabric_of(*first) == fabric) continue;
      const graph::Origin& policy = *part.group->from;
      out.error(policy.span,
                fmt::format("{} has VFs in two InfiniBand fabrics on {} ({} and {}): two pods can reach each other "
                            "only if both happen to get the same one",
                            resource, part.graph->facts->node, first->pf->name, part.pf->name))
          .with_fix("a policy and a resource per fabric (rootDevices or pfNames)");
      break;
    }
  }
}

bool is_pinned(const PodTemplate& pod) {
  const Value& spec = *pod.spec;
  return at(spec, "nodeName") != nullptr || at(spec, "affinity.podAntiAffinity") != nullptr ||
         at(spec, "affinity.nodeAffinity") != nullptr || at(spec, "topologySpreadConstraints") != nullptr ||
         (at(spec, "nodeSelector") != nullptr && at(spec, "nodeSelector")->find(kHostnameLabel) != nullptr);
}

void pair_on_one_node(const Input& in, Findings& out) {
  if (in.graphs.size() == 1) return;  // the only machine: the pods are meant to share it
  std::map<std::string, const PodView*> first_of;
  for (const PodView& pod : in.views.pods) {
    if (pod.pod->document->kind != "Pod" || gpus_of(*pod.pod) > 0) continue;
    for (const PodView::Net& net : pod.networks) {
      if (net.network == nullptr || !in.views.rdma(*net.network)) continue;
      const auto [first, fresh] = first_of.try_emplace(net.network->key, &pod);
      if (fresh || first->second == &pod || is_pinned(*pod.pod) || is_pinned(*first->second->pod)) continue;
      out.warning(pod.pod->span, fmt::format("{} and {} may be scheduled to one node: they then measure a loopback "
                                             "inside the NIC, not the fabric",
                                             first->second->pod->label(), pod.pod->label()))
          .note(first->second->pod->span, "the other one")
          .with_fix("podAntiAffinity with topologyKey kubernetes.io/hostname, or a nodeName for each");
      return;
    }
  }
}

// The minimum number of PFs per node that the policies of a resource name.
size_t pfs_named(const Input& in, std::string_view resource) {
  size_t most = 0;
  std::map<const graph::Graph*, std::set<const facts::Nic*>> found;
  for (const PoolPart& part : in.views.pool(resource)) found[part.graph].insert(part.pf->nic);
  for (const auto& [graph, pfs] : found) most = std::max(most, pfs.size());
  if (!in.graphs.empty()) return most;
  std::set<std::string> all;
  for (const PolicyView* policy : in.views.policies_of(resource)) {
    std::set<std::string> names;
    std::set<std::string> roots;
    for (const Word& name : texts_at(*policy->spec, "nicSelector.pfNames"))
      names.insert(name.text.substr(0, name.text.find('#')));
    for (const Word& name : texts_at(*policy->spec, "nicSelector.rootDevices")) roots.insert(name.text);
    // A PF must be in both lists.
    const bool by_root = names.empty() || (!roots.empty() && roots.size() < names.size());
    all.merge(by_root ? roots : names);
  }
  return all.size();
}

// Whether the pod takes all VFs that there are: the kubelet has no choice then.
bool takes_all(const Input& in, std::string_view resource, int64_t used) {
  int64_t vfs = 0;
  for (const PolicyView* policy : in.views.policies_of(resource))
    vfs = std::max(vfs, integer_at(*policy->spec, "numVfs").value_or(0));
  return used >= vfs * static_cast<int64_t>(pfs_named(in, resource));
}

void rails_from_one_pool(const Input& in, Findings& out) {
  std::set<std::string> reported;
  for (const PodView& pod : in.views.pods)
    for (const std::string& resource : pod.resources) {
      const int64_t used = pod.networks_with(resource);
      if (used < 2 || pfs_named(in, resource) < 2 || takes_all(in, resource, used) || !reported.insert(resource).second)
        continue;
      const auto policies = in.views.policies_of(resource);
      auto& reported_here = out.warning(
          pod.networks.front().selection->name.span,
          fmt::format("{} takes {} VFs of {}, which are of several PFs: the kubelet may allocate all of one port, and "
                      "a rail's number does not identify its port",
                      pod.pod->label(), used, resource));
      if (!policies.empty()) reported_here.note(policies[0]->resource_span, "one resource for all ports");
      reported_here.with_fix("a policy, a resource and a network per port");
    }
}

constexpr Rule kRailRules[] = {
    {"RB-RAIL-001", "fewer rails than GPUs", Needs::kNothing, fewer_rails_than_gpus},
    {"RB-RAIL-002", "as many VFs asked for as networks use", Needs::kNothing, networks_and_vfs_differ},
    {"RB-RAIL-003", "rails far from the GPUs", Needs::kFacts, far_from_gpus},
    {"RB-RAIL-004", "one resource in two fabrics", Needs::kFacts, one_resource_two_fabrics},
    {"RB-RAIL-005", "a pair of test pods that may share a node", Needs::kNothing, pair_on_one_node},
    {"RB-RAIL-006", "several rails of a pod from one pool of several ports", Needs::kNothing, rails_from_one_pool},
};

}  // namespace

std::span<const Rule> rail_rules() {
  return kRailRules;
}

}  // namespace railbed::check
