// SPDX-License-Identifier: Apache-2.0
// Requirements of RDMA and GPUDirect on pods, policies and networks; the list of the family.
#include <algorithm>
#include <set>

#include "api/names.h"
#include "api/pod.h"
#include "check/rules/device_lists.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/rdma_rules.h"
#include "check/rules/versions.h"

namespace railbed::check {
namespace {

using doc::Value;

// A pod that expects RDMA from a network whose definition does not mention it.
const PodView* pod_wanting_rdma(const Input& in, const NetworkView& network) {
  for (const size_t user : network.users) {
    const PodView& pod = in.views.pods[user];
    for (const Container& container : pod.pod->containers) {
      for (const Word& word : texts_at(*container.value, "securityContext.capabilities.add"))
        if (word.text == "IPC_LOCK") return &pod;
      for (const std::string_view name : {"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "UCX_NET_DEVICES"})
        if (container.env(name) != nullptr) return &pod;
      const Value* limits = at(*container.value, "resources.limits");
      if (limits != nullptr && limits->is_object())
        for (const Value::Member& one : *limits->as_object())
          if (one.key.starts_with("rdma/")) return &pod;
    }
  }
  return nullptr;
}

void device_without_rdma(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "host-device" || network.plugin("rdma") != nullptr || !network.resource.empty()) continue;
    const Value* asks = network.plugins.front().find("isRdma");
    const PodView* pod = pod_wanting_rdma(in, network);
    if (asks == nullptr && pod == nullptr) continue;
    const Value* type = network.plugins.front().find("type");
    auto& reported =
        out.warning(type->span,
                    "host-device moves only the interface: the RDMA device stays outside, and the pod does "
                    "not get /dev/infiniband");
    if (pod != nullptr) reported.note(pod->pod->span, "this pod needs RDMA");
    reported.with_fix(
        "a resource that brings the device files (a device plugin with isRdma, named in annotation "
        "k8s.v1.cni.cncf.io/resourceName); in exclusive mode also a plugin {\"type\": \"rdma\"} behind it");
  }
}

// Whether RDMA devices are shared by all namespaces, and who says so for an object: a pool of its environment, else the
// nodes.
struct RdmaMode {
  std::string mode;  // empty: nothing says
  std::string where;
  doc::Span because;  // unknown: facts

  void explain(doc::Diagnostic& reported) const {
    if (because.known())
      reported.note(because, "the mode is set here");
    else
      reported.at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
  }
};

// Pools of nodes that set a mode.
std::vector<const Document*> pools_with_mode(const Input& in) {
  std::vector<const Document*> pools;
  for (const Document& document : in.bundle.documents)
    if (document.kind == "SriovNetworkPoolConfig" && !text_at(document.value, "spec.rdmaMode").empty())
      pools.push_back(&document);
  return pools;
}

RdmaMode rdma_mode_for(const Input& in, const std::vector<const Document*>& pools, const Document& user) {
  RdmaMode mode;
  for (const facts::NodeFacts& node : in.nodes)
    if (!node.rdma_netns_mode.empty()) mode = {node.rdma_netns_mode, "node " + node.node, {}};
  for (const Document* pool : pools)
    if (belong_together(in.settings, user, *pool))
      mode = {std::string(text_at(pool->value, "spec.rdmaMode")), "the pool of nodes",
              at(pool->value, "spec.rdmaMode")->span};
  return mode;
}

// The plugin looks at the mode when it starts, and exits.
void shared_plugin_in_exclusive_mode(const Input& in, const std::vector<const Document*>& pools, Findings& out) {
  std::set<const Document*> documents;
  for (const Producer& producer : in.views.producers)
    if (producer.by == Producer::By::kSharedPlugin) documents.insert(producer.document);
  if (documents.empty() || holds(in, "shared-plugin-takes-exclusive-mode").holds != Holds::kNo) return;
  for (const Document* document : documents) {
    const RdmaMode mode = rdma_mode_for(in, pools, *document);
    if (mode.mode != "exclusive") continue;
    const doc::Span section = key_span(document->value, "spec.rdmaSharedDevicePlugin");
    auto& reported = out.error(section.known() ? section : name_span(*document),
                               fmt::format("the RDMA shared device plugin exits where RDMA devices are per namespace "
                                           "(exclusive), as on {}: its resources do not exist",
                                           mode.where));
    mode.explain(reported);
    reported.with_fix("rdmaMode: shared (rdma system set netns shared), or VFs of their own for pods");
  }
}

void namespace_mode(const Input& in, Findings& out) {
  const std::vector<const Document*> pools = pools_with_mode(in);
  shared_plugin_in_exclusive_mode(in, pools, out);
  for (const NetworkView& network : in.views.networks) {
    if (network.plugins.empty() || !in.views.rdma(network)) continue;
    const RdmaMode mode = rdma_mode_for(in, pools, *network.document);
    const Value* rdma = network.plugin("rdma");
    if (mode.mode == "exclusive" && rdma == nullptr) {
      auto& reported = out.error(name_span(*network.document),
                                 fmt::format("RDMA devices are per namespace on {} (exclusive), and {} does "
                                             "not move them: pods see none",
                                             mode.where, network.label()));
      mode.explain(reported);
      reported.with_fix("metaPlugins: '{\"type\": \"rdma\"}', or mode shared");
    } else if (mode.mode == "shared" && rdma != nullptr) {
      auto& reported =
          out.error(rdma->span, fmt::format("the rdma plugin fails on {}: its RDMA devices are shared by all "
                                            "namespaces",
                                            mode.where));
      mode.explain(reported);
      reported.with_fix("rdmaMode: exclusive (rdma system set netns exclusive), or no rdma plugin");
    }
  }
}

void placeholder_left(const Input& in, Findings& out) {
  const auto report = [&](const Value* value, std::string_view what) {
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    if (text == nullptr || !api::has_placeholder(*text)) return;
    if (what == "image" && text->find("$(") != std::string::npos) return;  // the parameter of a pipeline
    out.error(value->span, fmt::format("{} \"{}\" still has a placeholder", what, *text))
        .with_fix("fill it in")
        .that_says(doc::Says::kPlaceholder);
  };
  for (const PodTemplate& pod : in.pods) {
    if (pod.document->kind != "Pod")  // RB-API-008 reports it for pods
      for (const Container& container : pod.containers) report(container.value->find("image"), "image");
    const Value* secrets = pod.spec->find("imagePullSecrets");
    if (secrets != nullptr && secrets->is_array())
      for (const Value& secret : *secrets->as_array()) report(secret.find("name"), "pull secret");
  }
  for (const NetworkView& network : in.views.networks)
    for (const Value& plugin : network.plugins)
      for (const std::string_view key : {"device", "master", "pciBusID"}) report(plugin.find(key), key);
}

void rdma_not_asked(const Input& in, Findings& out) {
  std::set<const PolicyView*> reported;
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "sriov") continue;
    const PodView* pod = pod_wanting_rdma(in, network);
    if (pod == nullptr) continue;
    for (const PolicyView* policy : in.views.policies_of(network)) {
      const std::string vendor = lower(text_at(*policy->spec, "nicSelector.vendor"));
      if (policy->rdma || (!vendor.empty() && vendor != "15b3")) continue;
      if (text_at(*policy->spec, "deviceType") == "vfio-pci" || !reported.insert(policy).second) continue;
      const doc::Span flag = key_span(*policy->spec, "isRdma");
      auto& finding = out.error(
          flag.known() ? flag : name_span(*policy->document),
          fmt::format("policy {} does not set isRdma: its VFs have no /dev/infiniband, and RDMA fails in the pod",
                      policy->document->name));
      finding.note(pod->pod->span, "this pod needs RDMA")
          .with_fix("isRdma: true")
          .rests_on(name_span(*network.document));
      if (vendor.empty()) finding.at_most(doc::Confidence::kMedium, "the policy does not say whose cards it takes");
    }
  }
}

int64_t pods_on(const Input& in, const NetworkView& network) {
  int64_t pods = 0;
  for (const size_t user : network.users) pods += in.views.pods[user].pod->replicas;
  return pods;
}

bool is_called(const facts::NetInterface& netdev, const std::string& name) {
  return netdev.name == name || std::ranges::find(netdev.alt_names, name) != netdev.alt_names.end();
}

// With or without a PCI device, at home or lent to a pod.
bool has_interface(const facts::NodeFacts& node, const std::string& name, const Settings& settings) {
  const auto called = [&](const facts::NetInterface& netdev) { return is_called(netdev, name); };
  return settings.lent_interfaces.contains(name) || std::ranges::any_of(node.virtual_netdevs, called) ||
         std::ranges::any_of(node.nics, [&](const facts::Nic& nic) {
           return std::ranges::any_of(nic.netdevs, called) || std::ranges::any_of(nic.vfs, [&](const facts::Vf& vf) {
                    return vf.netdev.has_value() && called(*vf.netdev);
                  });
         });
}

void device_by_name(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "host-device") continue;
    const Value* device = network.plugins.front().find("device");
    const std::string name(text_at(network.plugins.front(), "device"));
    if (name.empty() || api::has_placeholder(name)) continue;
    std::vector<std::string> without;
    for (const facts::NodeFacts& node : in.nodes)
      if (!has_interface(node, name, in.settings)) without.push_back(node.node);
    if (!without.empty()) {
      const size_t shown = std::min<size_t>(without.size(), 4);
      out.error(device->span, fmt::format("{} does not exist on {}{}: pods on such nodes do not start", name,
                                          fmt::join(without.begin(), without.begin() + static_cast<long>(shown), ", "),
                                          shown < without.size() ? ", …" : ""))
          .with_fix("pciBusID, a resource from a device plugin, or one name on all nodes (udev)")
          .at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
    } else if (in.nodes.empty() && pods_on(in, network) > 1) {
      out.note(device->span, fmt::format("{} pods use {}, and a host's interface goes to one pod at a time: they need "
                                         "a node each, and {} must be the right port on all of them",
                                         pods_on(in, network), network.label(), name))
          .with_fix("check with facts of the nodes, or take VFs");
    }
  }
}

// The place where the pod requests a resource.
doc::Span request_span(const PodTemplate& pod, std::string_view resource) {
  for (const Container& container : pod.containers)
    for (const Value* map : container.resource_maps())
      for (const Value::Member& member : *map->as_object())
        if (member.key == resource) return member.key_span;
  return pod.span;
}

// A RoCE device needs an interface of its port in the pod: the port's GIDs are addresses of interfaces, and those of
// the host are none of the pod's.
void roce_without_network(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    if (pod.pod->host_network() || !pod.networks.empty() || pod.pod->virtual_machine) continue;
    if (pod.pod->annotations != nullptr && pod.pod->annotations->find(api::kNetworksAnnotation) != nullptr) continue;
    for (const Producer& producer : in.views.producers) {
      if (producer.by != Producer::By::kSharedPlugin || pod.pod->resource_count(producer.resource) == 0) continue;
      const graph::ResourceLink link = in.views.link(producer.resource);
      if (!link.all_ethernet() || link.source == graph::LinkSource::kNames) continue;
      out.error(
             request_span(*pod.pod, producer.resource),
             fmt::format("{} gets a RoCE device by {} and no network of its port: the device has no GID for an address "
                         "of the pod, and connections fail (\"failed to modify QP to RTR\")",
                         pod.pod->label(), producer.resource))
          .note(producer.span, "its ports are Ethernet")
          .with_fix("a network on that port (MacvlanNetwork, ipvlan), or hostNetwork: true");
      break;
    }
  }
}

// Whether the policy's cards are NVIDIA's, by its selector or on a node.
bool is_of_nvidia(const Input& in, const PolicyView& policy) {
  if (lower(text_at(*policy.spec, "nicSelector.vendor")) == "15b3") return true;
  return std::ranges::any_of(in.views.pool(policy.resource),
                             [](const PoolPart& part) { return part.pf->nic->pci.vendor == "15b3"; });
}

// mlx5 gives user space its queues through the kernel's driver (a bifurcated driver): DPDK and RDMA need no vfio-pci.
void nvidia_on_vfio(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies) {
    if (policy.ignored || text_at(*policy.spec, "deviceType") != "vfio-pci" || !is_of_nvidia(in, policy)) continue;
    if (flag_at(*policy.spec, "isRdma").value_or(false)) continue;  // RB-API-005 reports both together
    const PodView* user = nullptr;
    bool machine = false;
    for (const PodView& pod : in.views.pods) {
      const bool uses = pod.pod->resource_count(policy.resource) > 0 ||
                        std::ranges::find(pod.resources, policy.resource) != pod.resources.end();
      if (!uses) continue;
      machine = machine || pod.pod->virtual_machine;
      if (!pod.pod->virtual_machine && user == nullptr) user = &pod;
    }
    if (user == nullptr || machine) continue;
    out.warning(at(*policy.spec, "deviceType")->span,
                fmt::format("VFs of NVIDIA's cards on vfio-pci are for virtual machines: mlx5 and DPDK in {} need the "
                            "kernel's driver and its RDMA device",
                            user->pod->label()))
        .note(user->pod->span, "this pod uses them")
        .with_fix("deviceType: netdevice, isRdma: true");
  }
}

constexpr Rule kRdmaRules[] = {
    {"RB-RDMA-001", "a pod that may not lock memory", Needs::kNothing, cannot_lock_memory},
    {"RB-RDMA-002", "a memory limit below what RDMA pins", Needs::kNothing, memory_too_small},
    {"RB-RDMA-003", "several GPUs and a small /dev/shm", Needs::kNothing, small_shared_memory},
    {"RB-RDMA-004", "an interface moved without its RDMA device", Needs::kNothing, device_without_rdma},
    {"RB-RDMA-005", "a network that does not fit the RDMA namespace mode", Needs::kNothing, namespace_mode},
    {"RB-RDMA-006", "a slower card than the text speaks of", Needs::kNothing, slower_than_said,
     doc::Says::kMatchesNoNic},
    {"RB-RDMA-007", "a VF's device id where the PF's is meant", Needs::kNothing, vf_id_for_pf,
     doc::Says::kMatchesNoNic},
    {"RB-RDMA-008", "a device plugin that lists other VFs than the policy makes", Needs::kNothing, pool_of_nothing},
    {"RB-RDMA-009", "nvidia_peermem without the driver that it needs", Needs::kNothing, peermem_without_mofed},
    {"RB-RDMA-010", "kernel module parameters on one line", Needs::kNothing, parameters_on_one_line},
    {"RB-RDMA-011", "kernel module parameters without effect", Needs::kNothing, module_config_not_used},
    {"RB-RDMA-012", "a placeholder in an image, secret or device", Needs::kNothing, placeholder_left},
    {"RB-RDMA-013", "RDMA pods on VFs without isRdma", Needs::kNothing, rdma_not_asked},
    {"RB-RDMA-014", "a host interface by a name that nodes do not have", Needs::kNothing, device_by_name},
    {"RB-RDMA-015", "a shared RoCE device without a network of its port", Needs::kNothing, roce_without_network},
    {"RB-RDMA-016", "shared memory that is mounted elsewhere", Needs::kNothing, shared_memory_elsewhere},
    {"RB-RDMA-017", "VFs of NVIDIA on vfio-pci for pods", Needs::kNothing, nvidia_on_vfio},
};

}  // namespace

std::span<const Rule> rdma_rules() {
  return kRdmaRules;
}

}  // namespace railbed::check
