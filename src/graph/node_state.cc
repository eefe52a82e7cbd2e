// SPDX-License-Identifier: Apache-2.0
#include "graph/node_state.h"

#include <algorithm>
#include <set>

#include "api/cluster_labels.h"
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
  const api::SriovNetworkNodePolicy& object = *group.policy->object;
  for (const VfRange& range : group.vfs)
    out.push_back({.policy_name = *object.meta.name,
                   .resource_name = *object.resource_name,
                   .device_type = group.policy->device_type,
                   .vfs = {range.first, range.last},
                   .mtu = *object.mtu,
                   .is_rdma = group.policy->rdma,
                   .vdpa_type = *object.vdpa_type,
                   .need_vhost_net = *object.need_vhost_net,
                   .exclude_topology = *object.exclude_topology});
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
                        .link_type = *wanted.lead->object->link_type,
                        .eswitch_mode = wanted.eswitch_mode,
                        .externally_managed = wanted.externally_managed,
                        .groups = {}};
    for (const VfGroup& group : wanted.groups) add_groups(group, pf.groups);
    std::ranges::sort(pf.groups, {}, [](const api::NodeStateVfGroup& group) { return group.vfs.first; });
    out.push_back(std::move(pf));
  }
  return out;
}

std::map<std::string_view, std::string> orders_of(const Graph& graph) {
  std::set<std::string> pfs, resources;
  for (const PfWanted& wanted : graph.pfs)
    for (const VfGroup& group : wanted.groups) {
      if (allows_host_pf(*group.policy)) pfs.insert(wanted.nic->pci.address.to_string());
      if (gives_mad(*group.policy)) resources.insert(*group.policy->object->resource_name);
    }
  return {{kHostPfsAllowed, fmt::format("{}", fmt::join(pfs, ","))},
          {kMadResources, fmt::format("{}", fmt::join(resources, ","))}};
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

// Makes the graph of a WantedState, PF by PF.
class StateReader {
 public:
  StateReader(WantedState& made, const api::SriovNetworkNodeState& state, doc::Diagnostics& diagnostics)
      : made_(made), state_(state), diagnostics_(diagnostics) {
    host_pfs_ = listed(kHostPfsAllowed);
    mad_resources_ = listed(kMadResources);
  }

  void read() {
    for (const api::NodeStatePf& pf : state_.pfs) {
      const auto nic =
          std::ranges::find(made_.graph.facts->nics, pf.address, [](const facts::Nic& one) { return one.pci.address; });
      if (nic != made_.graph.facts->nics.end())
        read_pf(pf, *nic);
      else
        tell_absent(pf);
    }
    std::ranges::sort(made_.graph.pfs, {}, [](const PfWanted& wanted) { return wanted.nic->pci.address; });
  }

 private:
  // What an annotation lists, with a comma before and after each.
  std::string listed(std::string_view annotation) const {
    const auto found = state_.meta.annotations.find(std::string(annotation));
    if (found == state_.meta.annotations.end() || !found->second->as_string()) return {};
    return "," + *found->second->as_string() + ",";
  }
  // The policy of a group on this PF, made once for all its ranges.
  const Policy& policy_of(const api::NodeStatePf& pf, const api::NodeStateVfGroup& group, size_t first) {
    for (size_t i = first; i < made_.policies.size(); ++i)
      if (*made_.objects[i].meta.name == group.policy_name && *made_.objects[i].resource_name == group.resource_name)
        return made_.policies[i];
    api::SriovNetworkNodePolicy& object = made_.objects.emplace_back();
    object.meta.name = api::given(group.policy_name);
    object.meta.ns = state_.meta.ns;
    if (host_pfs_.find("," + pf.address.to_string() + ",") != std::string::npos)
      object.meta.annotations[std::string(kAllowHostPf)] = api::given(doc::Value("true"));
    if (mad_resources_.find("," + group.resource_name + ",") != std::string::npos)
      object.meta.annotations[std::string(api::kMadAnnotation)] = api::given(doc::Value("true"));
    object.resource_name = api::given(group.resource_name);
    object.num_vfs = api::given(pf.num_vfs);
    object.mtu = api::given(group.mtu);
    object.device_type = api::given(group.device_type);
    object.is_rdma = api::given(group.is_rdma);
    object.link_type = api::given(pf.link_type);
    object.eswitch_mode = api::given(pf.eswitch_mode);
    object.vdpa_type = api::given(group.vdpa_type);
    object.need_vhost_net = api::given(group.need_vhost_net);
    object.exclude_topology = api::given(group.exclude_topology);
    object.externally_managed = api::given(pf.externally_managed);
    return made_.policies.emplace_back(
        Policy{.object = &object,
               .key = key_of(group),
               .resource = made_.catalog.options.resource_prefix + "/" + group.resource_name,
               .place = "policy " + group.policy_name,
               .rdma = group.is_rdma,
               .device_type = group.device_type});
  }

  // What became of a policy of the state, over all PFs.
  PolicyOutcome& outcome(const std::string& policy) {
    const auto found = std::ranges::find(made_.graph.outcomes, policy, &PolicyOutcome::policy);
    if (found != made_.graph.outcomes.end()) return *found;
    return made_.graph.outcomes.emplace_back(PolicyOutcome{.policy = policy, .state = PolicyOutcome::State::kApplied});
  }

  void stays_undone(const std::string& policy, const std::string& why) {
    PolicyOutcome& of = outcome(policy);
    of.state = of.pfs.empty() ? PolicyOutcome::State::kRefused : PolicyOutcome::State::kPartly;
    of.detail += (of.detail.empty() ? "" : "; ") + why;
  }

  void tell_absent(const api::NodeStatePf& pf) {
    std::set<std::string> told;
    for (const api::NodeStateVfGroup& group : pf.groups)
      if (told.insert(group.policy_name).second)
        stays_undone(key_of(group),
                     fmt::format("its node state requests VFs of {}, where this node has no NIC", pf.address));
  }

  std::string key_of(const api::NodeStateVfGroup& group) const { return *state_.meta.ns + "/" + group.policy_name; }

  bool is_refused(const Policy& policy, const facts::Nic& nic) {
    const auto against = objection(policy, nic, *made_.graph.facts);
    if (against) refuse(policy, nic, *against);
    return against.has_value();
  }

  void refuse(const Policy& policy, const facts::Nic& nic, const Objection& against) {
    made_.graph.refusals.push_back({&policy, &nic, pf_name(nic), against.reason, against.needs_reboot});
    stays_undone(policy.key, against.reason);
    diagnostics_.error(against.id, against.span, against.reason).with_fix(against.fix);
  }

  void read_pf(const api::NodeStatePf& pf, const facts::Nic& nic) {
    const size_t first = made_.policies.size();
    PfWanted wanted{.nic = &nic,
                    .name = pf_name(nic),
                    .num_vfs = pf.num_vfs,
                    .mtu = pf.mtu,
                    .eswitch_mode = pf.eswitch_mode,
                    .externally_managed = pf.externally_managed,
                    .groups = {}};
    for (const api::NodeStateVfGroup& group : pf.groups) {
      const Policy& policy = policy_of(pf, group, first);
      auto at = std::ranges::find(wanted.groups, &policy, &VfGroup::policy);
      if (at == wanted.groups.end()) at = wanted.groups.insert(at, VfGroup{.policy = &policy, .vfs = {}});
      at->vfs.push_back({group.vfs.first, group.vfs.last});
    }
    std::erase_if(wanted.groups, [&](const VfGroup& group) { return is_refused(*group.policy, nic); });
    if (wanted.groups.empty()) return;
    for (VfGroup& group : wanted.groups) group.vfs = join(std::move(group.vfs));
    wanted.lead = wanted.num_vfs_from = wanted.groups.front().policy;
    if (pf.mtu > 0) wanted.mtu_from = wanted.lead;
    if (const auto against = objection(wanted, *made_.graph.facts)) {
      for (const VfGroup& group : wanted.groups) refuse(*group.policy, nic, *against);
      return;
    }
    for (const VfGroup& group : wanted.groups) {
      PolicyOutcome& of = outcome(group.policy->key);
      of.pfs.push_back(pf_label(nic));
      if (of.state == PolicyOutcome::State::kRefused) of.state = PolicyOutcome::State::kPartly;
    }
    made_.graph.pfs.push_back(std::move(wanted));
  }

  WantedState& made_;
  const api::SriovNetworkNodeState& state_;
  doc::Diagnostics& diagnostics_;
  std::string host_pfs_, mad_resources_;
};

}  // namespace

WantedState::WantedState(const api::SriovNetworkNodeState& state, const facts::NodeFacts& facts, const Options& options,
                         doc::Diagnostics& diagnostics) {
  catalog.options = options;
  graph.catalog = &catalog;
  graph.facts = &facts;
  graph.labels = facts.labels;
  graph.soft_rdma = options.soft_rdma;
  StateReader(*this, state, diagnostics).read();
}

}  // namespace railbed::graph
