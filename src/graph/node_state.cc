// SPDX-License-Identifier: Apache-2.0
#include "graph/node_state.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "graph/objection.h"

namespace railbed::graph {
namespace {

std::string text_of(const std::optional<MacAddress>& mac) {
  return mac ? mac->to_string() : "";
}

// The operator's words for the type of a link.
std::string_view link_abbreviation(facts::LinkType type) {
  if (type == facts::LinkType::kUnknown) return "";
  return type == facts::LinkType::kInfiniband ? "IB" : "ETH";
}

facts::LinkType link_type_of(std::string_view name) {
  if (name.empty()) return facts::LinkType::kUnknown;
  return name == "IB" ? facts::LinkType::kInfiniband : facts::LinkType::kEthernet;
}

void add_groups(const VfGroup& group, std::vector<api::NodeStateVfGroup>& out) {
  for (const VfRange& range : group.vfs)
    out.push_back({.policy_name = group.from->name,
                   .resource_name = group.resource_name,
                   .device_type = group.device_type,
                   .vfs = {range.first, range.last},
                   .mtu = group.mtu,
                   .is_rdma = group.rdma,
                   .vdpa_type = group.vdpa_type,
                   .need_vhost_net = group.need_vhost_net,
                   .exclude_topology = group.exclude_topology});
}

api::FoundVf found_vf(const facts::Vf& vf) {
  api::FoundVf out{.index = vf.index.value,
                   .address = vf.pci.address,
                   .vendor = vf.pci.vendor,
                   .device_id = vf.pci.device,
                   .driver = vf.pci.driver,
                   .name = vf.netdev ? vf.netdev->name : "",
                   .mac = text_of(vf.netdev && vf.netdev->mac ? vf.netdev->mac : vf.admin_mac),
                   .guid = vf.port_guid ? vf.port_guid->to_string() : "",
                   .mtu = vf.netdev ? vf.netdev->mtu : 0,
                   .vlan = vf.vlan.value_or(0)};
  return out;
}

facts::NetInterface netdev_of(const api::FoundNic& nic) {
  facts::NetInterface out;
  out.name = nic.name;
  out.alt_names = nic.alt_names;
  out.mtu = nic.mtu;
  if (!nic.link_admin_state.empty()) out.admin_up = nic.link_admin_state == "up";
  if (const auto mac = MacAddress::parse(nic.mac)) out.mac = *mac;
  return out;
}

facts::Vf vf_of(const api::FoundVf& vf) {
  facts::Vf out;
  out.index = VfIndex{vf.index};
  out.pci.address = vf.address;
  out.pci.vendor = vf.vendor;
  out.pci.device = vf.device_id;
  out.pci.driver = vf.driver;
  if (!vf.name.empty()) {
    out.netdev.emplace();
    out.netdev->name = vf.name;
    out.netdev->mtu = vf.mtu;
  }
  return out;
}

}  // namespace

std::vector<api::NodeStatePf> state_of(const Graph& graph) {
  std::vector<api::NodeStatePf> out;
  for (const PfWanted& wanted : graph.pfs) {
    api::NodeStatePf pf{.address = wanted.nic->pci.address,
                        .name = wanted.name,
                        .num_vfs = wanted.num_vfs,
                        .mtu = wanted.mtu,
                        .link_type = wanted.link_type,
                        .eswitch_mode = wanted.eswitch_mode,
                        .externally_managed = wanted.externally_managed,
                        .groups = {}};
    for (const VfGroup& group : wanted.groups) add_groups(group, pf.groups);
    std::ranges::sort(pf.groups, {}, [](const api::NodeStateVfGroup& group) { return group.vfs.first; });
    out.push_back(std::move(pf));
  }
  return out;
}

std::map<std::string_view, std::string> orders_of(const Graph& graph, const api::Wanted& wanted) {
  std::set<std::string> pfs, resources;
  for (const PfWanted& pf : graph.pfs)
    for (const VfGroup& group : pf.groups) {
      if (group.from->host_pf_allowed) pfs.insert(pf.nic->pci.address.to_string());
      if (group.mad) resources.insert(group.resource_name);
    }
  return {{kHostPfsAllowed, fmt::format("{}", fmt::join(pfs, ","))},
          {kMadResources, fmt::format("{}", fmt::join(resources, ","))},
          {api::kWantedAnnotation, api::to_text(wanted)}};
}

std::vector<api::FoundNic> found_nics(const facts::NodeFacts& facts) {
  std::vector<api::FoundNic> out;
  for (const facts::Nic& nic : facts.nics) {
    api::FoundNic& found =
        out.emplace_back(api::FoundNic{.address = nic.pci.address,
                                       .vendor = nic.pci.vendor,
                                       .device_id = nic.pci.device,
                                       .driver = nic.pci.driver,
                                       .num_vfs = nic.num_vfs,
                                       .total_vfs = nic.total_vfs.value_or(0),
                                       .link_type = std::string(link_abbreviation(nic.link_type)),
                                       .eswitch_mode = std::string(eswitch_mode_name(nic.eswitch_mode))});
    for (const facts::Vf& vf : nic.vfs) found.vfs.push_back(found_vf(vf));
    if (nic.netdevs.empty()) continue;
    const facts::NetInterface& netdev = nic.netdevs.front();
    found.name = netdev.name;
    found.alt_names = netdev.alt_names;
    // A card with two ports on one function has two interfaces, and the status has room for one name.
    for (size_t i = 1; i < nic.netdevs.size(); ++i) found.alt_names.push_back(nic.netdevs[i].name);
    found.mac = text_of(netdev.mac);
    found.mtu = netdev.mtu;
    if (netdev.speed_mbps) found.link_speed = fmt::format("{} Mb/s", *netdev.speed_mbps);
    if (netdev.admin_up) found.link_admin_state = *netdev.admin_up ? "up" : "down";
  }
  return out;
}

facts::NodeFacts facts_of(const api::SriovNetworkNodeState& state, std::map<std::string, std::string> labels) {
  facts::NodeFacts out;
  out.node = *state.meta.name;
  out.labels = std::move(labels);
  for (const api::FoundNic& found : state.nics) {
    facts::Nic& nic = out.nics.emplace_back();
    nic.pci.address = found.address;
    nic.pci.vendor = found.vendor;
    nic.pci.device = found.device_id;
    nic.pci.driver = found.driver;
    nic.link_type = link_type_of(found.link_type);
    if (!found.name.empty()) nic.netdevs.push_back(netdev_of(found));
    if (found.total_vfs > 0) nic.total_vfs = found.total_vfs;
    nic.num_vfs = found.num_vfs;
    nic.eswitch_mode = parse_eswitch_mode(found.eswitch_mode);
    for (const api::FoundVf& vf : found.vfs) nic.vfs.push_back(vf_of(vf));
  }
  return out;
}

namespace {

std::string_view text_of(const api::Metadata& meta, std::string_view annotation) {
  const auto found = meta.annotations.find(std::string(annotation));
  if (found == meta.annotations.end() || !found->second->as_string()) return "";
  return *found->second->as_string();
}

// What an annotation lists, with commas between.
std::set<std::string, std::less<>> listed(const api::Metadata& meta, std::string_view annotation) {
  std::set<std::string, std::less<>> out;
  if (!meta.annotations.contains(std::string(annotation))) return out;
  std::string_view rest = text_of(meta, annotation);
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = rest.find(',');
    out.emplace(rest.substr(0, comma));
    if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
  }
  return out;
}

}  // namespace

Orders orders_in(const api::Metadata& meta) {
  Orders out{.host_pfs = listed(meta, kHostPfsAllowed),
             .mad_resources = listed(meta, kMadResources),
             .resource_prefix = {},
             .problem = "",
             .drain = {},
             .drain_problem = ""};
  const Result<std::optional<api::Wanted>> wanted = api::wanted_in(meta);
  if (!wanted.has_value())
    out.problem = wanted.error().story();
  else if (wanted->has_value())
    out.resource_prefix = (*wanted)->resource_prefix;
  if (Result<drain::NodeDrain> state = drain::read_node_drain(text_of(meta, drain::kDrainAnnotation)))
    out.drain = *std::move(state);
  else
    out.drain_problem = state.error().story();
  return out;
}

namespace {

// Makes the graph of a WantedState, PF by PF.
class StateReader {
 public:
  StateReader(Graph& graph, const api::SriovNetworkNodeState& state, const Options& options,
              doc::Diagnostics& diagnostics)
      : graph_(graph),
        state_(state),
        diagnostics_(diagnostics),
        orders_(orders_in(state.meta)),
        resource_prefix_(orders_.resource_prefix.value_or(options.resource_prefix)) {}

  void read() {
    for (const api::NodeStatePf& pf : state_.pfs) {
      const auto nic =
          std::ranges::find(graph_.facts->nics, pf.address, [](const facts::Nic& one) { return one.pci.address; });
      if (nic != graph_.facts->nics.end())
        read_pf(pf, *nic);
      else
        report_absent(pf);
    }
    std::ranges::sort(graph_.pfs, {}, [](const PfWanted& wanted) { return wanted.nic->pci.address; });
  }

 private:
  VfGroup group_on(const api::NodeStatePf& pf, const api::NodeStateVfGroup& group) const {
    Origin from;
    from.policy = key_of(group);
    from.name = group.policy_name;
    from.place = "policy " + group.policy_name;
    from.host_pf_allowed = orders_.host_pfs.contains(pf.address.to_string());
    return {.from = std::make_shared<const Origin>(std::move(from)),
            .resource_name = group.resource_name,
            .resource = resource_prefix_ + "/" + group.resource_name,
            .device_type = group.device_type,
            .rdma = group.is_rdma,
            .mad = orders_.mad_resources.contains(group.resource_name),
            .need_vhost_net = group.need_vhost_net,
            .exclude_topology = group.exclude_topology,
            .vdpa_type = group.vdpa_type,
            .mtu = group.mtu,
            .vfs = {},
            .num_vfs = pf.num_vfs,
            .link_type = pf.link_type,
            .eswitch_mode = pf.eswitch_mode,
            .externally_managed = pf.externally_managed};
  }

  // The ranges of a policy on this PF together, as its first range describes them.
  std::vector<VfGroup> groups_of(const api::NodeStatePf& pf) const {
    std::vector<VfGroup> out;
    for (const api::NodeStateVfGroup& group : pf.groups) {
      auto at = std::ranges::find_if(out, [&](const VfGroup& known) {
        return known.from->name == group.policy_name && known.resource_name == group.resource_name;
      });
      if (at == out.end()) at = out.insert(at, group_on(pf, group));
      at->vfs.push_back({group.vfs.first, group.vfs.last});
    }
    return out;
  }

  // What became of a policy of the state, over all PFs.
  PolicyOutcome& outcome(const std::string& policy) {
    const auto found = std::ranges::find(graph_.outcomes, policy, &PolicyOutcome::policy);
    if (found != graph_.outcomes.end()) return *found;
    return graph_.outcomes.emplace_back(PolicyOutcome{.policy = policy, .state = PolicyOutcome::State::kApplied});
  }

  void stays_undone(const std::string& policy, const std::string& why) {
    PolicyOutcome& of = outcome(policy);
    of.state = of.pfs.empty() ? PolicyOutcome::State::kRefused : PolicyOutcome::State::kPartly;
    of.detail += (of.detail.empty() ? "" : "; ") + why;
  }

  void report_absent(const api::NodeStatePf& pf) {
    std::set<std::string> reported;
    for (const api::NodeStateVfGroup& group : pf.groups)
      if (reported.insert(group.policy_name).second)
        stays_undone(key_of(group),
                     fmt::format("its node state requests VFs of {}, where this node has no NIC", pf.address));
  }

  std::string key_of(const api::NodeStateVfGroup& group) const { return *state_.meta.ns + "/" + group.policy_name; }

  bool is_refused(const VfGroup& group, const facts::Nic& nic) {
    const auto against = objection(group, nic, *graph_.facts);
    if (against) refuse(group.from, nic, *against);
    return against.has_value();
  }

  void refuse(const OriginPtr& from, const facts::Nic& nic, const Objection& against) {
    graph_.refusals.push_back({from, &nic, pf_name(nic), against.reason, against.needs_reboot});
    stays_undone(from->policy, against.reason);
    diagnostics_.error(against.id, against.span, against.reason).with_fix(against.fix);
  }

  void read_pf(const api::NodeStatePf& pf, const facts::Nic& nic) {
    PfWanted wanted{.nic = &nic,
                    .name = pf_name(nic),
                    .num_vfs = pf.num_vfs,
                    .mtu = pf.mtu,
                    .link_type = pf.link_type,
                    .eswitch_mode = pf.eswitch_mode,
                    .externally_managed = pf.externally_managed,
                    .groups = groups_of(pf)};
    std::erase_if(wanted.groups, [&](const VfGroup& group) { return is_refused(group, nic); });
    if (wanted.groups.empty()) return;
    for (VfGroup& group : wanted.groups) group.vfs = join(std::move(group.vfs));
    wanted.lead = wanted.num_vfs_from = wanted.groups.front().from;
    if (pf.mtu > 0) wanted.mtu_from = wanted.lead;
    if (const auto against = objection(wanted, *graph_.facts)) {
      for (const VfGroup& group : wanted.groups) refuse(group.from, nic, *against);
      return;
    }
    for (const VfGroup& group : wanted.groups) {
      PolicyOutcome& of = outcome(group.from->policy);
      of.pfs.push_back(pf_label(nic));
      if (of.state == PolicyOutcome::State::kRefused) of.state = PolicyOutcome::State::kPartly;
    }
    graph_.pfs.push_back(std::move(wanted));
  }

  Graph& graph_;
  const api::SriovNetworkNodeState& state_;
  doc::Diagnostics& diagnostics_;
  const Orders orders_;
  const std::string resource_prefix_;
};

}  // namespace

WantedState::WantedState(const api::SriovNetworkNodeState& state, const facts::NodeFacts& facts, const Options& options,
                         doc::Diagnostics& diagnostics) {
  graph.facts = &facts;
  graph.labels = facts.labels;
  graph.soft_rdma = options.soft_rdma;
  StateReader(graph, state, options, diagnostics).read();
}

}  // namespace railbed::graph
