// SPDX-License-Identifier: Apache-2.0
// Which networks a pod or a virtual machine can have at all: in the host's network, across namespaces, on KubeVirt.
#include <algorithm>
#include <set>

#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

doc::Span first_network_span(const PodTemplate& pod) {
  if (pod.networks.empty()) return pod.span;
  const auto& first = pod.networks.front();
  return first.name.span.known() ? first.name.span : first.span;
}

// With hostNetwork no CNI plugin runs for the pod, so Multus does not either.
void networks_in_host_network(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods) {
    if (!pod.host_network() || pod.networks.empty()) continue;
    out.warning(
           first_network_span(pod),
           fmt::format("{} is in the host's network: no network is attached to it, and a VF that it requests stays "
                       "reserved and is never seen",
                       pod.label()))
        .note(at(*pod.spec, "hostNetwork")->span, "hostNetwork is set here")
        .with_fix("no hostNetwork; or no networks and no VFs, and the host's own interfaces")
        .that_fails_where_applied();
  }
}

bool is_global_on_openshift(std::string_view ns) {
  return ns == "default" || ns == "openshift-multus" || ns == "openshift-sriov-network-operator";
}

// OpenShift's Multus lets pods use networks of their own namespace and of these three only (namespaceIsolation).
void network_of_another_namespace(const Input& in, Findings& out) {
  if (!is_openshift(in.bundle)) return;
  for (const PodView& pod : in.views.pods) {
    if (at(pod.pod->document->value, "metadata.namespace") == nullptr) continue;
    for (const PodView::Net& net : pod.networks) {
      const std::string ns = net.key.substr(0, net.key.find('/'));
      if (!net.selection->ns.present || ns == pod.pod->document->ns || is_global_on_openshift(ns)) continue;
      // Only a namespace that the annotation itself names is known to be another one.
      if (net.network == nullptr || net.network->key != net.key) continue;
      out.error(net.selection->ns.span.known() ? net.selection->ns.span : net.selection->name.span,
                fmt::format("{} names a network of namespace {}, and Multus on OpenShift refuses networks of other "
                            "namespaces than the pod's (namespace isolation)",
                            pod.pod->label(), ns))
          .note(name_span(*net.network->document), "the network")
          .with_fix(fmt::format("networkNamespace: {} in the network", pod.pod->document->ns));
    }
  }
}

// The interfaces of a virtual machine that are VFs, by the names that its networks have, too.
std::set<std::string> vf_interfaces(const PodTemplate& machine) {
  std::set<std::string> names;
  const Value* list = at(*machine.spec, "domain.devices.interfaces");
  if (list != nullptr && list->is_array())
    for (const Value& one : *list->as_array())
      if (one.find("sriov") != nullptr) names.emplace(text_at(one, "name"));
  return names;
}

// Calls `visit` with each network that a virtual machine has by a VF and whose definition is here.
template <typename Visit>
void each_machine_vf(const Input& in, Visit visit) {
  for (const PodView& pod : in.views.pods) {
    if (!pod.pod->virtual_machine) continue;
    const auto names = vf_interfaces(*pod.pod);
    for (const PodView::Net& net : pod.networks)
      if (net.network != nullptr && names.contains(net.interface)) visit(pod, net);
  }
}

void machine_on_kernel_driver(const Input& in, Findings& out) {
  each_machine_vf(in, [&](const PodView& pod, const PodView::Net& net) {
    for (const PolicyView* policy : in.views.policies_of(*net.network)) {
      if (text_at(*policy->spec, "deviceType") == "vfio-pci") continue;
      const doc::Span type = key_span(*policy->spec, "deviceType");
      const doc::Span place = type.known() ? type : name_span(*policy->document);
      const std::string text = fmt::format(
          "{} gets VFs of {} by KubeVirt, which passes them to the machine by VFIO: they must be on vfio-pci",
          pod.pod->label(), net.network->resource);
      const bool nvidia = lower(text_at(*policy->spec, "nicSelector.vendor")) == "15b3";
      (nvidia ? out.warning(place, text) : out.error(place, text))
          .note(net.selection->name.span, "this machine has one")
          .with_fix("deviceType: vfio-pci (isRdma: false)");
      return;
    }
  });
}

void machine_with_addresses(const Input& in, Findings& out) {
  std::set<const NetworkView*> reported;
  each_machine_vf(in, [&](const PodView& pod, const PodView::Net& net) {
    const NetworkView& network = *net.network;
    if (text_at(network.ipam, "type").empty() || !reported.insert(&network).second) return;
    const Value* place = network.ipam_text != nullptr ? network.ipam_text : network.ipam.find("type");
    out.error(place->span,
              fmt::format("{} gives addresses, and {} has it as a VF: there is no interface in the pod to set them on, "
                          "and KubeVirt's pod does not start",
                          network.label(), pod.pod->label()))
        .note(net.selection->name.span, "this machine has it")
        .with_fix("no ipam: the guest gets its address by DHCP or cloud-init");
  });
}

constexpr Rule kNetworkRules[] = {
    {"RB-POD-007", "networks for a pod in the host's network", Needs::kNothing, networks_in_host_network},
    {"RB-POD-008", "a network of another namespace on OpenShift", Needs::kNothing, network_of_another_namespace},
    {"RB-VM-001", "a virtual machine's VF on the kernel's driver", Needs::kNothing, machine_on_kernel_driver},
    {"RB-VM-002", "a virtual machine's VF on a network with addresses", Needs::kNothing, machine_with_addresses},
};

}  // namespace

std::span<const Rule> network_rules() {
  return kNetworkRules;
}

}  // namespace railbed::check
