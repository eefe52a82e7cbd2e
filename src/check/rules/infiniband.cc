// SPDX-License-Identifier: Apache-2.0
// InfiniBand: kinds of networks and links, GUIDs, partitions, subnet managers.
#include <algorithm>
#include <map>
#include <set>

#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {
namespace {

using doc::Value;

const Value* link_type_of(const PolicyView& policy) {
  return policy.spec->find("linkType");
}

// Why the VFs of `resource` have their link type: a note at what says so.
void note_link_source(const Input& in, const std::string& resource, const graph::ResourceLink& link, bool infiniband,
                      doc::Diagnostic& reported) {
  const auto policies = in.views.policies_of(resource);
  const std::string_view word = infiniband ? "InfiniBand" : "Ethernet";
  const Producer* producer = in.views.producer(resource);
  switch (link.source) {
    case graph::LinkSource::kFacts:
      for (const graph::Graph& graph : in.graphs)
        if (!graph::links_found(graph, resource).empty() && !policies.empty()) {
          reported.note(name_span(*policies.front()->document),
                        fmt::format("its ports on node {} are {}", graph.facts->node, word));
          return;
        }
      return;
    case graph::LinkSource::kPolicy:
      for (const PolicyView* policy : policies)
        if (!policy->link_type.empty() && (policy->link_type == "ib") == infiniband) {
          reported.note(link_type_of(*policy)->span, "the VFs are made here");
          return;
        }
      return;
    case graph::LinkSource::kDevicePlugin:
      if (producer != nullptr) reported.note(producer->span, fmt::format("linkTypes of this resource say {}", word));
      return;
    case graph::LinkSource::kNames:
      if (producer != nullptr) reported.note(producer->span, fmt::format("its ports have names of {} ports", word));
      return;
    case graph::LinkSource::kNone:
      return;
  }
}

void network_of_other_link(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const graph::ResourceLink link = in.views.link(network.resource);
    const graph::LinkConflict conflict = graph::link_conflict(network.type, link);
    if (conflict == graph::LinkConflict::kNone) continue;
    const bool ib = conflict == graph::LinkConflict::kInfinibandNetwork;
    const bool is_crd = network.document->kind != "NetworkAttachmentDefinition";
    const Value* kind = network.document->value.find("kind");
    const Value* type = network.plugins.empty() ? nullptr : network.plugins.front().find("type");
    const doc::Span span = is_crd ? (kind == nullptr ? doc::Span() : kind->span)
                                  : (type == nullptr ? name_span(*network.document) : type->span);
    const std::string text =
        ib ? fmt::format("{} sets up InfiniBand VFs, but those of {} are Ethernet: pods with it do not start",
                         network.label(), network.resource)
           : fmt::format(
                 "{} sets up Ethernet VFs, but those of {} are InfiniBand: the plugin wants a MAC and a VLAN "
                 "that they do not have",
                 network.label(), network.resource);
    // A name only suggests what a port is.
    auto& reported = link.source == graph::LinkSource::kNames ? out.warning(span, text) : out.error(span, text);
    note_link_source(in, network.resource, link, !ib, reported);
    reported.with_fix(is_crd ? (ib ? "kind: SriovNetwork" : "kind: SriovIBNetwork")
                             : (ib ? "\"type\": \"sriov\"" : "\"type\": \"ib-sriov\""));
  }
}

void link_type_not_said(const Input& in, Findings& out) {
  std::set<const PolicyView*> reported;
  for (const NetworkView& network : in.views.networks) {
    // For Ethernet ports RB-IB-001 reports that the network does not fit.
    if (network.type != "ib-sriov" || in.views.link(network.resource).all_ethernet()) continue;
    for (const PolicyView* policy : in.views.policies_of(network)) {
      if (!policy->link_type.empty() || !reported.insert(policy).second) continue;
      out.warning(name_span(*policy->document),
                  fmt::format("policy {} does not say linkType: IB: a card that is in Ethernet mode is "
                              "taken too, and stays Ethernet",
                              policy->document->name))
          .note(name_span(*network.document), "this InfiniBand network takes its VFs")
          .with_fix("linkType: IB");
    }
  }
}

void pf_name_of_other_link(const Input& in, Findings& out) {
  // Of a PF that is there, other rules know what its ports are.
  const auto is_there = [&](const std::string& name) {
    return std::ranges::any_of(in.nodes, [&](const facts::NodeFacts& node) {
      return std::ranges::any_of(node.nics, [&](const facts::Nic& nic) {
        return std::ranges::find(nic.netdevs, name, &facts::NetInterface::name) != nic.netdevs.end();
      });
    });
  };
  for (const PolicyView& policy : in.views.policies) {
    if (policy.link_type.empty()) continue;
    for (const Word& name : texts_at(*policy.spec, "nicSelector.pfNames")) {
      const facts::LinkType other =
          policy.link_type == "ib" ? facts::LinkType::kEthernet : facts::LinkType::kInfiniband;
      if (graph::link_of_name(name.text) != other || is_there(name.text)) continue;
      out.warning(name.span,
                  policy.link_type == "ib"
                      ? fmt::format("{} is the name of an Ethernet interface; InfiniBand ones begin with 'ib': the "
                                    "policy matches nothing, or a PF in the wrong mode",
                                    name.text)
                      : fmt::format("{} is the name of an InfiniBand interface, linkType is Ethernet", name.text))
          .note(link_type_of(policy)->span, "linkType is given here")
          .with_fix("take the name that the PF has on the node (railbed discover)");
    }
  }
}

void guid_of_two_pods(const Input& in, Findings& out) {
  std::map<uint64_t, const PodView::Net*> owners;
  for (const PodView& pod : in.views.pods)
    for (const PodView::Net& net : pod.networks) {
      const auto& guid = net.selection->infiniband_guid;
      if (!guid.present) continue;
      const std::string text = guid->to_pairs();
      if (guid->is_zero() || guid->value == UINT64_MAX) {
        out.error(guid.span, fmt::format("{} is not a valid GUID: the subnet manager leaves such a port down", text))
            .with_fix("leave it out, or give one of your own (02:…)");
        continue;
      }
      const auto [first, fresh] = owners.try_emplace(guid->value, &net);
      if (!fresh)
        out.error(guid.span, fmt::format("GUID {} is assigned to two ports: the subnet manager accepts only one", text))
            .note(first->second->selection->infiniband_guid.span, "the other one")
            .with_fix("a GUID for each port");
      else if (pod.pod->replicas > 1)
        out.error(guid.span, fmt::format("{} makes {} pods, all with GUID {}: the subnet manager accepts only one",
                                         pod.pod->label(), pod.pod->replicas, text))
            .with_fix("leave the GUID out; it is then the VF's own");
    }
}

void link_kept_down(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    if (network.plugins.empty() || (network.type != "ib-sriov" && network.type != "sriov")) continue;
    for (const std::string_view key : {"linkState", "link_state"}) {
      const Value* state = network.plugins.front().find(key);
      if (state != nullptr && text_at(network.plugins.front(), key) == "disable")
        out.error(state->span, fmt::format("{} keeps the link of its VFs down: pods see PORT_DOWN", network.label()))
            .with_fix(fmt::format("{}: {}", key, network.type == "ib-sriov" ? "enable" : "auto"));
    }
  }
}

// Calls `visit` for each PF whose VFs a policy takes, once, with the place in the policy.
template <typename Visit>
void each_ib_pf(const Input& in, Visit visit) {
  for (const graph::Graph& graph : in.graphs)
    for (const graph::PfWanted& pf : graph.pfs) {
      if (pf.nic->link_type != facts::LinkType::kInfiniband || pf.groups.empty()) continue;
      visit(graph, pf, pf.groups.front().from->span);
    }
}

void bad_vf_guids(const Input& in, Findings& out) {
  std::map<uint64_t, std::string> owners;
  each_ib_pf(in, [&](const graph::Graph& graph, const graph::PfWanted& pf, const doc::Span& span) {
    for (const facts::Vf& vf : pf.nic->vfs) {
      const std::string name = fmt::format("VF {} of {} on {}", vf.index.value, pf.name, graph.facts->node);
      // The PF reports on its VFs, and of this one it has no GUID: it is all zeros or ones.
      const bool reported = !vf.link_state.empty();
      if (!vf.port_guid && !reported) continue;
      if (!vf.port_guid || vf.port_guid->value == UINT64_MAX) {
        out.warning(span, fmt::format("{} has no GUID: the subnet manager leaves its port down", name))
            .with_fix("railbed up sets the GUIDs of VFs; with the operator, delete the VFs so that it re-creates them");
        return;  // one finding per PF is enough
      }
      const auto [first, fresh] = owners.try_emplace(vf.port_guid->value, name);
      if (fresh) continue;
      out.error(span, fmt::format("{} and {} share the GUID {}: the subnet manager accepts only one", name,
                                  first->second, vf.port_guid->to_pairs()))
          .with_fix("railbed up sets a unique GUID for every VF");
      return;
    }
  });
}

void no_subnet_manager(const Input& in, Findings& out) {
  each_ib_pf(in, [&](const graph::Graph& graph, const graph::PfWanted& pf, const doc::Span& span) {
    for (const facts::RdmaDevice& device : pf.nic->rdma)
      for (const facts::RdmaPort& port : device.ports) {
        const bool waits = port.state == "INIT" || (port.physical_state == "LinkUp" && port.state == "DOWN");
        const bool none = port.state == "ACTIVE" && port.sm_lid && (*port.sm_lid == 0 || *port.sm_lid == 0xffff);
        if (!waits && !none) continue;
        out.error(span,
                  fmt::format("{} ({}) of {} is {} with a link: no subnet manager has configured it, "
                              "and its VFs stay down too",
                              device.name, pf.name, graph.facts->node, port.state.empty() ? "not active" : port.state))
            .with_fix(
                "start a subnet manager on this fabric (opensm, UFM, or one on a switch), with virtualization enabled");
      }
  });
}

void limited_member(const Input& in, Findings& out) {
  constexpr int kFullMember = 0x8000;
  each_ib_pf(in, [&](const graph::Graph& graph, const graph::PfWanted& pf, const doc::Span& span) {
    for (const facts::RdmaDevice& device : pf.nic->rdma)
      for (const facts::RdmaPort& port : device.ports) {
        if (port.pkeys.empty() || std::ranges::any_of(port.pkeys, [](int key) { return (key & kFullMember) != 0; }))
          continue;
        out.warning(span, fmt::format("{} ({}) of {} is only a limited member of its partition (0x{:04x}), and so are "
                                      "its VFs: two such ports do not reach each other",
                                      device.name, pf.name, graph.facts->node, port.pkeys.front()))
            .with_fix("full membership for the GUIDs of PF and VFs at the subnet manager (=full in partitions.conf)");
      }
  });
}

constexpr Rule kInfinibandRules[] = {
    {"RB-IB-001", "an Ethernet network on InfiniBand VFs, or the reverse", Needs::kNothing, network_of_other_link},
    {"RB-IB-002", "an InfiniBand network on VFs of a policy without linkType", Needs::kNothing, link_type_not_said},
    {"RB-IB-003", "a PF whose name is of the other link type", Needs::kNothing, pf_name_of_other_link},
    {"RB-IB-004", "a GUID that is none, or is given twice", Needs::kNothing, guid_of_two_pods},
    {"RB-IB-005", "a network that keeps the link down", Needs::kNothing, link_kept_down},
    {"RB-IB-006", "VFs without a GUID, or with one GUID", Needs::kFacts, bad_vf_guids},
    {"RB-IB-007", "a port that no subnet manager has configured", Needs::kFacts, no_subnet_manager},
    {"RB-IB-008", "a port that is only a limited member of its partition", Needs::kFacts, limited_member},
};

}  // namespace

std::span<const Rule> infiniband_rules() {
  return kInfinibandRules;
}

}  // namespace railbed::check
