// SPDX-License-Identifier: Apache-2.0
#include "generate/manifests.h"

#include <algorithm>
#include <array>
#include <set>

#include "api/node.h"
#include "api/placement.h"
#include "base/command.h"
#include "base/kinds.h"
#include "base/well_known.h"
#include "doc/json.h"
#include "doc/text.h"
#include "doc/yaml.h"
#include "facts/gpu_vendors.h"
#include "graph/link_type.h"

namespace railbed::generate {
namespace {

using doc::Value;

Value object(const Kind& kind, std::string_view name, std::string_view ns) {
  Value out = Value::object();
  out.set("apiVersion", kind.api_version());
  out.set("kind", kind.name);
  Value& meta = out.set("metadata", Value::object());
  meta.set("name", name);
  if (!ns.empty()) meta.set("namespace", ns);
  return out;
}

bool infiniband(const Rail& rail) {
  graph::LinkEvidence evidence;
  for (const Port& port : rail.ports) evidence.facts.push_back(port.nic->link_type);
  return graph::link_of(evidence).all_infiniband();
}

bool hardware_rdma(const Rail& rail) {
  return std::ranges::all_of(rail.ports, [](const Port& port) {
    return std::ranges::any_of(port.nic->rdma, [](const auto& device) { return !device.soft; });
  });
}

// 0: the MTU stays as it is.
int mtu_of(const Design& design, const Rail& rail) {
  if (design.request.mtu > 0) return design.request.mtu;
  if (!infiniband(rail)) return hardware_rdma(rail) ? 9000 : 0;
  std::set<int> now;
  for (const Port& port : rail.ports)
    if (!port.nic->netdevs.empty()) now.insert(port.nic->netdevs.front().mtu);
  return now.size() > 1 ? *now.rbegin() : 0;
}

// Whether one policy can select the rail's port on all nodes: same PCI address, same vendor and device.
bool is_alike(const Rail& rail) {
  const facts::PciDevice& first = rail.ports.front().nic->pci;
  return std::ranges::all_of(rail.ports, [&](const Port& port) {
    const facts::PciDevice& pci = port.nic->pci;
    return pci.address == first.address && pci.vendor == first.vendor && pci.device == first.device;
  });
}

// One policy per rail selects nothing else when the rail is alike on all nodes and every node has it.
bool one_policy_is_enough(const Design& design) {
  return std::ranges::all_of(design.rails, is_alike) &&
         std::ranges::all_of(design.rails, [&](const Rail& rail) { return rail.ports.size() == design.nodes.size(); });
}

Value policy(const Design& design, const Rail& rail, const Port& port, bool for_all) {
  const std::string name = for_all ? rail.name : fmt::format("{}-{}", rail.name, port.node->node);
  Value out = object(kind_named("SriovNetworkNodePolicy"), name, design.request.operator_namespace);
  Value& spec = out.set("spec", Value::object());
  spec.set("resourceName", rail.name);
  Value& selector = spec.set("nodeSelector", Value::object());
  if (for_all)
    selector.set(kSriovCapableLabel, "true");
  else
    selector.set(kHostnameLabel, port.node->node);
  spec.set("priority", 50);
  spec.set("numVfs", rail.vfs);
  if (const int mtu = mtu_of(design, rail); mtu > 0) spec.set("mtu", mtu);
  Value& nic = spec.set("nicSelector", Value::object());
  nic.set("vendor", port.nic->pci.vendor);
  nic.set("deviceID", port.nic->pci.device);
  nic.set("rootDevices", Value::array()).push(fmt::format("{}", port.nic->pci.address));
  spec.set("deviceType", "netdevice");
  spec.set("isRdma", true);
  spec.set("linkType", infiniband(rail) ? "IB" : "ETH");
  return out;
}

Value ipam(const Rail& rail) {
  Value out = Value::object();
  out.set("type", "whereabouts");
  out.set("range", rail.range.to_string());
  return out;
}

Value vf_network(const Design& design, const Rail& rail) {
  Value out = object(infiniband(rail) ? kind_named("SriovIBNetwork") : kind_named("SriovNetwork"), rail.name,
                     design.request.operator_namespace);
  Value& spec = out.set("spec", Value::object());
  spec.set("resourceName", rail.name);
  spec.set("networkNamespace", design.request.pod_namespace);
  if (infiniband(rail)) spec.set("linkState", "enable");
  spec.set("ipam", doc::to_json(ipam(rail), 2) + "\n");
  return out;
}

// The network of a whole port: the device by its PCI address, together with its RDMA device.
Value port_network(const Design& design, const Rail& rail, const Port& port, bool for_all) {
  const std::string name = for_all ? rail.name : fmt::format("{}-{}", rail.name, port.node->node);
  Value out = object(kind_named("NetworkAttachmentDefinition"), name, design.request.pod_namespace);
  Value config = Value::object();
  config.set("cniVersion", "1.0.0");
  config.set("name", name);
  Value& plugins = config.set("plugins", Value::array());
  Value device = Value::object();
  device.set("type", "host-device");
  device.set("pciBusID", fmt::format("{}", port.nic->pci.address));
  device.set("ipam", ipam(rail));
  plugins.push(std::move(device));
  if (const int mtu = mtu_of(design, rail); mtu > 0) {
    Value tuning = Value::object();
    tuning.set("type", "tuning");
    tuning.set("mtu", mtu);
    plugins.push(std::move(tuning));
  }
  Value rdma = Value::object();
  rdma.set("type", "rdma");
  plugins.push(std::move(rdma));
  out.set("spec", Value::object()).set("config", doc::to_json(config, 2) + "\n");
  return out;
}

// GPUs for the pod: one per rail where each rail's port shares a PCI switch or host bridge with a GPU.
size_t gpus_for(const facts::NodeFacts& node, const std::vector<const Rail*>& rails) {
  const auto is_near = [&](const Rail* rail) {
    const auto port = std::ranges::find(rail->ports, &node, &Port::node);
    const auto& gpus = port->nic->gpus;
    return !gpus.empty() && gpus.front().kind != "NODE" && gpus.front().kind != "SYS";
  };
  return std::ranges::all_of(rails, is_near) ? std::min(node.gpus.size(), rails.size()) : 0;
}

Value container(const Design& design, const facts::NodeFacts& node, const std::vector<const Rail*>& rails) {
  Value out = Value::object();
  const facts::GpuVendor& vendor = facts::gpu_vendor_of(node);
  out.set("name", "rdma");
  out.set("image", design.request.image == kTestImage ? vendor.image : std::string_view(design.request.image));
  Value& command = out.set("command", Value::array());
  command.push("sleep");
  command.push("infinity");
  Value& env = out.set("env", Value::array());
  for (const facts::GpuVariable& variable : vendor.environment) {
    Value one = Value::object();
    one.set("name", variable.name);
    one.set("value", variable.value);
    env.push(std::move(one));
  }
  out.set("securityContext", Value::object())
      .set("capabilities", Value::object())
      .set("add", Value::array())
      .push("IPC_LOCK");  // memory registered for RDMA is locked memory
  Value limits = Value::object();
  limits.set("cpu", "8");
  limits.set("memory", "64Gi");
  if (const size_t gpus = gpus_for(node, rails); gpus > 0) limits.set(vendor.resource, fmt::format("{}", gpus));
  if (design.request.profile != Profile::kHostDevice)
    for (const Rail* rail : rails) limits.set(fmt::format("{}/{}", design.request.resource_prefix, rail->name), "1");
  Value& resources = out.set("resources", Value::object());
  resources.set("requests", limits);
  resources.set("limits", std::move(limits));
  Value mount = Value::object();
  mount.set("name", "shm");
  mount.set("mountPath", "/dev/shm");
  out.set("volumeMounts", Value::array()).push(std::move(mount));
  return out;
}

Value toleration(const api::Taint& taint) {
  Value out = Value::object();
  out.set("key", taint.key);
  out.set("operator", taint.value.empty() ? "Exists" : "Equal");
  if (!taint.value.empty()) out.set("value", taint.value);
  out.set("effect", taint.effect);
  return out;
}

// A manifest of a Node would replace the taints that others have set, so the nodes' side is a command.
std::string taint_command(const Design& design) {
  Command command{"kubectl", "taint", "nodes"};
  for (const facts::NodeFacts* node : design.nodes) command.operand(node->node);
  return command.value(api::to_string(*design.taint)).to_string();
}

Value test_pod(const Design& design, const facts::NodeFacts& node, bool for_all) {
  std::vector<const Rail*> rails;
  std::string networks;
  for (const Rail& rail : design.rails) {
    if (std::ranges::none_of(rail.ports, [&](const Port& port) { return port.node == &node; })) continue;
    rails.push_back(&rail);
    const bool own = design.request.profile == Profile::kHostDevice && !for_all;
    networks += fmt::format("{}{}{}", networks.empty() ? "" : ", ", rail.name, own ? "-" + node.node : "");
  }
  Value out = object(kind_named("Pod"), "rdma-test-" + node.node, design.request.pod_namespace);
  out.find("metadata")->set("annotations", Value::object()).set(kNetworksAnnotation, networks);
  Value& spec = out.set("spec", Value::object());
  spec.set("nodeSelector", Value::object()).set(kHostnameLabel, node.node);
  if (design.taint) spec.set("tolerations", Value::array()).push(toleration(*design.taint));
  spec.set("restartPolicy", "Never");
  spec.set("containers", Value::array()).push(container(design, node, rails));
  Value volume = Value::object();
  volume.set("name", "shm");
  volume.set("emptyDir", Value::object()).set("medium", "Memory");
  spec.set("volumes", Value::array()).push(std::move(volume));
  return out;
}

// Namespaces that every cluster has.
bool is_of_kubernetes(std::string_view ns) {
  constexpr std::array<std::string_view, 4> kAlwaysThere = {"default", "kube-system", "kube-public", "kube-node-lease"};
  return std::ranges::find(kAlwaysThere, ns) != kAlwaysThere.end();
}

Value pod_namespace(const Design& design) {
  Value out = object(kind_named("Namespace"), design.request.pod_namespace, "");
  // The standard "baseline" refuses IPC_LOCK. A namespace that somebody named may be there already, with other pods in
  // it: what is allowed there is not for these manifests to change.
  if (design.request.pod_namespace == kTestNamespace)
    out.find("metadata")->set("labels", Value::object()).set("pod-security.kubernetes.io/enforce", "privileged");
  return out;
}

Value soft_node(const facts::NodeFacts& node) {
  Value out = object(kind_named("Node"), node.node, "");
  out.find("metadata")->set("annotations", Value::object()).set(api::kSoftRdmaAnnotation, "true");
  return out;
}

}  // namespace

std::vector<Value> manifests(const Design& design) {
  std::vector<Value> out;
  if (!is_of_kubernetes(design.request.pod_namespace)) out.push_back(pod_namespace(design));
  const bool for_all = one_policy_is_enough(design);
  const bool soft = !std::ranges::all_of(design.rails, hardware_rdma);
  if (soft)
    for (const facts::NodeFacts* node : design.nodes) out.push_back(soft_node(*node));
  for (const Rail& rail : design.rails)
    for (const Port& port : rail.ports) {
      if (design.request.profile == Profile::kHostDevice)
        out.push_back(port_network(design, rail, port, for_all));
      else
        out.push_back(policy(design, rail, port, for_all));
      if (for_all) break;
    }
  if (design.request.profile != Profile::kHostDevice)
    for (const Rail& rail : design.rails) out.push_back(vf_network(design, rail));
  for (const facts::NodeFacts* node : design.nodes) out.push_back(test_pod(design, *node, for_all));
  return out;
}

std::string to_yaml(const Design& design) {
  std::string out =
      fmt::format("# railbed generate: {} rail{} on {} node{}\n", design.rails.size(),
                  design.rails.size() == 1 ? "" : "s", design.nodes.size(), design.nodes.size() == 1 ? "" : "s");
  for (const std::string& note : design.notes) out += fmt::format("# {}\n", doc::printable(note));
  if (design.taint) out += fmt::format("# keeps other pods off these nodes: {}\n", taint_command(design));
  bool first = true;
  for (const Value& one : manifests(design)) {
    if (!first) out += "---\n";
    first = false;
    out += doc::to_yaml(one);
  }
  return out;
}

}  // namespace railbed::generate
