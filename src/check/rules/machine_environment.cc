// SPDX-License-Identifier: Apache-2.0
// Environment variables against the machines on which a pod can run: devices, GID indexes, GPUs, addresses of its
// rails.
#include <algorithm>
#include <map>
#include <set>

#include "check/rules/device_lists.h"
#include "check/rules/env_settings.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "doc/scalar.h"
#include "facts/gpu_vendors.h"

namespace railbed::check {
namespace {

using doc::Value;

// Whether the pod sees the RDMA devices of the host under their names: in the host's network, or by a shared device and
// without VFs of its own.
bool sees_host_devices(const Input& in, const PodView& pod) {
  if (pod.pod->host_network()) return true;
  const bool has_vf = std::ranges::any_of(pod.networks, [](const PodView::Net& net) {
    return net.network == nullptr || net.network->type == "sriov" || net.network->type == "ib-sriov" ||
           net.network->type == "host-device";
  });
  if (has_vf) return false;
  return std::ranges::any_of(in.views.producers, [&](const Producer& producer) {
    return producer.by == Producer::By::kSharedPlugin && pod.pod->resource_count(producer.resource) > 0;
  });
}

ListGrammar grammar_of(const Setting& setting) {
  return setting.name.starts_with("UCX_") ? ListGrammar::kUcx : ListGrammar::kNccl;
}

// The device list of a pod that sees a node's devices, and that node's ports.
struct SeenList {
  const Setting& setting;
  const DeviceList& list;
  const graph::Graph& node;
  std::vector<HostPort> ports;

  bool takes(const HostPort& port) const { return list.takes(port.device, port.port->number); }
};

// Calls `visit` for each node on which the list says something wrong, until it returns true.
template <typename Visit>
void each_seen_list(const Input& in, Visit visit) {
  if (in.graphs.empty()) return;
  for (const PodView& pod : in.views.pods) {
    if (!sees_host_devices(in, pod)) continue;
    for (const Setting& setting : settings_of(pod)) {
      if (setting.row == nullptr || setting.row->find("devices") == nullptr || !setting.is_literal()) continue;
      const DeviceList list = parse_device_list(setting.text, grammar_of(setting));
      if (list.entries.empty()) continue;
      for (const graph::Graph* node : nodes_for(in, *pod.pod)) {
        const SeenList seen{setting, list, *node, ports_of(*node->facts)};
        if (!seen.ports.empty() && visit(seen)) break;
      }
    }
  }
}

// What to write for the rails of a node.
std::string rails_as_list(const SeenList& seen) {
  std::vector<std::string> names;
  for (const HostPort& port : seen.ports)
    if (port.rail && port.up)
      names.push_back(seen.list.grammar == ListGrammar::kUcx ? fmt::format("{}:{}", port.device, port.port->number)
                                                             : port.device);
  if (names.empty())
    for (const HostPort& port : seen.ports) names.push_back(port.device);
  return fmt::format("{}={}{}", seen.setting.name, seen.list.grammar == ListGrammar::kNccl ? "=" : "",
                     fmt::join(names, ","));
}

void device_that_no_node_has(const Input& in, Findings& out) {
  each_seen_list(in, [&](const SeenList& seen) {
    if (seen.list.exclude || seen.list.all) return false;
    std::vector<std::string> missing;
    for (const DeviceList::Entry& entry : seen.list.entries)
      if (std::ranges::none_of(seen.ports,
                               [&](const HostPort& port) { return entry.takes(port.device, port.port->number); }))
        missing.push_back(entry.name);
    // Of interfaces, which UCX takes too, the interface's own rules report.
    const auto interfaces = interfaces_of(*seen.node.facts);
    std::erase_if(missing, [&](const std::string& name) { return std::ranges::count(interfaces, name) > 0; });
    if (missing.empty()) return false;
    std::set<std::string> there;
    for (const HostPort& port : seen.ports) there.insert(port.device);
    const bool none = missing.size() == seen.list.entries.size();
    const std::string text =
        fmt::format("node {} has no RDMA device {}: {}; there are {}", seen.node.facts->node, fmt::join(missing, ", "),
                    none ? "the library finds none and goes over TCP without a word" : "it uses fewer rails",
                    fmt::join(there, ", "));
    auto& reported = none ? out.error(seen.setting.value->span, text) : out.warning(seen.setting.value->span, text);
    reported.with_fix(rails_as_list(seen));
    if (!must_run_on(*seen.setting.pod->pod, seen.node))
      reported.at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
    return true;
  });
}

void more_than_the_rails(const Input& in, Findings& out) {
  each_seen_list(in, [&](const SeenList& seen) {
    if (gpus_of(*seen.setting.pod->pod) == 0) return false;
    std::vector<std::string> besides;
    bool rail = false;
    for (const HostPort& port : seen.ports) {
      if (!port.up || !seen.takes(port)) continue;
      rail = rail || port.rail;
      // A device that is written as a whole is wanted.
      const bool named = !seen.list.exclude && std::ranges::any_of(seen.list.entries, [&](const auto& entry) {
        return entry.name == port.device && !entry.pattern;
      });
      if (!port.rail && !named) besides.push_back(port.device);
    }
    if (!rail || besides.empty()) return false;
    const std::string_view why = seen.list.exclude ? "is what the list leaves"
                                 : seen.list.all   ? "is among all devices"
                                                   : "begins with a name of the list, which are prefixes";
    out.warning(seen.setting.value->span,
                fmt::format("{} takes {} of node {}, which {} no rail{}: {} {}", seen.setting.name,
                            fmt::join(besides, ", "), seen.node.facts->node, besides.size() == 1 ? "is" : "are",
                            besides.size() == 1 ? "" : "s", besides.front(), why))
        .with_fix(rails_as_list(seen));
    return true;
  });
}

// The GID at `index` of a port; null where the table has none.
const facts::GidEntry* gid_at(const facts::RdmaPort& port, int64_t index) {
  for (const facts::GidEntry& entry : port.gids)
    if (entry.index == index) return &entry;
  return nullptr;
}

// Why a library that uses this index on this port fails or uses the wrong protocol; empty where it is right.
std::string gid_problem(const facts::RdmaPort& port, int64_t index) {
  if (port.gids.empty() || port.link_type == facts::LinkType::kInfiniband) return "";
  const facts::GidEntry* entry = gid_at(port, index);
  if (entry == nullptr) return "has no GID there";
  if (entry->type != "RoCE v2") return fmt::format("has a GID of {} there", entry->type.empty() ? "?" : entry->type);
  const bool routable = std::ranges::any_of(
      port.gids, [](const facts::GidEntry& one) { return one.type == "RoCE v2" && !one.gid.is_link_local(); });
  return entry->gid.is_link_local() && routable ? "has its link-local GID there, which routers do not forward" : "";
}

void gid_index_of_the_node(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    if (in.graphs.empty() || !sees_host_devices(in, pod)) continue;
    for (const Setting& setting : settings_of(pod)) {
      if (setting.row == nullptr || setting.row->find("gid") == nullptr || !setting.is_literal()) continue;
      const auto index = doc::plain_integer(setting.text);
      if (!index || *index < 0) continue;
      const Value* hca = setting.container->env("NCCL_IB_HCA");
      const bool by_hca = setting.name.starts_with("NCCL_") && hca != nullptr && hca->as_string() != nullptr;
      const DeviceList list = parse_device_list(by_hca ? *hca->as_string() : "", ListGrammar::kNccl);
      for (const graph::Graph* node : nodes_for(in, *pod.pod)) {
        const auto ports = ports_of(*node->facts);
        const auto wrong = std::ranges::find_if(ports, [&](const HostPort& port) {
          const bool used = by_hca ? list.takes(port.device, port.port->number) : port.rail;
          return used && port.up && !gid_problem(*port.port, *index).empty();
        });
        if (wrong == ports.end()) continue;
        out.warning(setting.value->span, fmt::format("index {}: {} of node {} {}", *index, wrong->device,
                                                     node->facts->node, gid_problem(*wrong->port, *index)))
            .with_fix("leave it out: NCCL 2.21 and later, UCX and NVSHMEM choose the RoCE v2 GID themselves");
        break;
      }
    }
  }
}

// Whether the network gives IPv6 addresses and no IPv4 ones.
bool only_ipv6(const NetworkView& network) {
  if (!network.addresses) return false;
  bool some = false;
  bool v4 = false;
  const auto see = [&](IpFamily family) {
    some = true;
    v4 = v4 || family == IpFamily::kV4;
  };
  for (const auto& set : network.addresses->range_sets)
    for (const api::IpamRange& range : set) see(range.subnet.address.family);
  for (const auto& fixed : network.addresses->fixed) see(fixed.address.address.family);
  return some && !v4;
}

bool uses_collectives(const PodView& pod) {
  if (gpus_of(*pod.pod) > 0) return true;
  const auto settings = settings_of(pod);
  return std::ranges::any_of(settings, [](const Setting& setting) { return setting.name.starts_with("NCCL_"); });
}

bool has_setting(const PodView& pod, std::string_view name) {
  return std::ranges::any_of(pod.pod->containers, [&](const Container& container) {
    const Value* list = container.variables();
    if (container.value->find("envFrom") != nullptr) return true;
    return list != nullptr &&
           std::ranges::any_of(*list->as_array(), [&](const Value& item) { return text_at(item, "name") == name; });
  });
}

void ipv6_only_rails(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    const auto net = std::ranges::find_if(pod.networks, [&](const PodView::Net& one) {
      return one.network != nullptr && in.views.roce(*one.network) && only_ipv6(*one.network);
    });
    if (net == pod.networks.end() || !uses_collectives(pod)) continue;
    if (has_setting(pod, "NCCL_IB_ADDR_FAMILY") || has_setting(pod, "NCCL_IB_GID_INDEX")) continue;
    auto& reported =
        out.warning(net->selection->name.span,
                    fmt::format("{} has IPv6 addresses only, and NCCL looks for an IPv4 GID: without one it "
                                "takes GID 0, the link-local one, which no router forwards",
                                net->network->label()));
    if (const Value* ipam = net->network->ipam_text) reported.note(ipam->span, "its addresses");
    reported.with_fix("env NCCL_IB_ADDR_FAMILY: AF_INET6");
  }
}

// Whether a route of the network leads to the addresses of another one.
bool reaches(const NetworkView& from, const NetworkView& to) {
  if (!from.addresses || !to.addresses) return true;
  for (const auto& set : to.addresses->range_sets)
    for (const api::IpamRange& range : set) {
      const auto leads_there = [&](const Route& route) { return route.destination.contains(range.subnet.network()); };
      const auto& sets = from.addresses->range_sets;
      const bool same_subnet = std::ranges::any_of(sets, [&](const auto& mine) {
        return std::ranges::any_of(mine, [&](const auto& one) { return one.subnet.overlaps(range.subnet); });
      });
      if (same_subnet || std::ranges::any_of(from.addresses->routes, leads_there)) return true;
    }
  return to.addresses->range_sets.empty();
}

void crossing_without_routes(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod)) {
      if (setting.name != "NCCL_CROSS_NIC" || !setting.is_literal() || setting.text != "1") continue;
      const auto is_roce = [&](const PodView::Net& net) {
        return net.network != nullptr && in.views.roce(*net.network);
      };
      for (const PodView::Net& one : pod.networks)
        for (const PodView::Net& other : pod.networks) {
          if (&one == &other || !is_roce(one) || !is_roce(other) || reaches(*one.network, *other.network)) continue;
          out.warning(
                 setting.value->span,
                 fmt::format("NCCL may connect any rail with any other, and {} has no route to the addresses of {}: "
                             "such connections time out",
                             one.network->label(), other.network->label()))
              .note(other.selection->name.span, "the rail that is not reached")
              .with_fix("NCCL_CROSS_NIC=0, or routes between the rails in their ipam");
          return;
        }
    }
}

bool is_true(std::string_view text) {
  const std::string word = lower(text);
  return word == "1" || word == "true" || word == "yes" || word == "t" || word == "y";
}

// Parameters of the NVIDIA module that let GPUs ring doorbells of NICs.
bool maps_peers(const Input& in) {
  return std::ranges::any_of(in.bundle.documents, [](const Document& document) {
    const Value* data = document.kind == "ConfigMap" ? document.value.find("data") : nullptr;
    return data != nullptr && data->is_object() &&
           std::ranges::any_of(*data->as_object(), [](const Value::Member& member) {
             const std::string* text = member.value.as_string();
             return text != nullptr && text->find("PeerMappingOverride=1") != std::string::npos;
           });
  });
}

void gpu_initiated(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Setting& setting : settings_of(pod)) {
      const bool on = (setting.name == "NVSHMEM_IB_ENABLE_IBGDA" && is_true(setting.text)) ||
                      (setting.name == "NVSHMEM_REMOTE_TRANSPORT" && setting.text == "ibgda");
      if (!on || !setting.is_literal() || maps_peers(in)) continue;
      if (flag_at(*setting.container->value, "securityContext.privileged").value_or(false)) continue;
      out.note(setting.value->span,
               fmt::format("GPU-initiated RDMA maps the NIC's doorbells into the GPU: container {} of {} is not "
                           "privileged, and nothing here sets the driver's PeerMappingOverride",
                           setting.container->name, pod.pod->label()))
          .with_fix(
              "NVreg_RegistryDwords=\"PeerMappingOverride=1;\" and NVreg_EnableStreamMemOPs=1 for the nvidia module "
              "(kernelModuleConfig of the ClusterPolicy)");
      break;  // a pod sets it in two variables
    }
}

// The vendor of the pod's GPUs; null where it has none, or those of several.
const facts::GpuVendor* vendor_of(const PodTemplate& pod) {
  const facts::GpuVendor* found = nullptr;
  for (const facts::GpuVendor& vendor : facts::gpu_vendors()) {
    if (pod.resource_count(vendor.resource) == 0) continue;
    if (found != nullptr) return nullptr;
    found = &vendor;
  }
  return found;
}

// The vendor whose memory only this transport of UCX handles; null for one of all.
const facts::GpuVendor* vendor_of_transport(std::string_view transport) {
  for (const facts::GpuVendor& vendor : facts::gpu_vendors())
    for (const std::string& own : comma_parts(vendor.transports))
      if (transport == own || transport == own.substr(0, own.find('_'))) return &vendor;
  return nullptr;
}

// Why a setting is not for this vendor's GPUs; empty where it is.
std::string foreign_setting(const Setting& setting, const facts::GpuVendor& vendor) {
  if (setting.name == "UCX_TLS" && setting.is_literal()) {
    for (const std::string& part : comma_parts(setting.text)) {
      const facts::GpuVendor* of = vendor_of_transport(part);
      if (of != nullptr && of != &vendor) return fmt::format("{} is for GPUs of {}", part, of->name);
    }
    return "";
  }
  const bool nvidia = vendor.pci_vendor == "10de";
  const bool reads_nccl = nvidia || vendor.pci_vendor == "1002";  // RCCL
  if (setting.name.starts_with("NVSHMEM_") && !nvidia) return "NVSHMEM is for GPUs of NVIDIA";
  if (setting.name.starts_with("NCCL_") && !reads_nccl) return "no library for them reads NCCL's variables";
  if (setting.name.starts_with("HCCL_") && vendor.pci_vendor != "1da3") return "HCCL is for Gaudi";
  return "";
}

void other_vendors_settings(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    const facts::GpuVendor* vendor = vendor_of(*pod.pod);
    if (vendor == nullptr) continue;
    for (const Setting& setting : settings_of(pod)) {
      const std::string why = foreign_setting(setting, *vendor);
      if (why.empty()) continue;
      auto& reported =
          out.warning(setting.name_span, fmt::format("{} has GPUs of {} ({}), and sets {}: {}", pod.pod->label(),
                                                     vendor->name, vendor->resource, setting.name, why));
      if (setting.name == "UCX_TLS")
        reported.with_fix(
            fmt::format("UCX_TLS=rc,{}{}sm,self", vendor->transports, vendor->transports.empty() ? "" : ","));
      else
        reported.with_fix("leave it out");
    }
  }
}

constexpr Rule kMachineEnvironmentRules[] = {
    {"RB-ENV-011", "an RDMA device that no node has", Needs::kFacts, device_that_no_node_has},
    {"RB-ENV-012", "a device list that takes more than the rails", Needs::kFacts, more_than_the_rails},
    {"RB-ENV-013", "a GID index that is not the node's RoCE v2 address", Needs::kFacts, gid_index_of_the_node},
    {"RB-ENV-014", "rails with IPv6 addresses only, and NCCL's default", Needs::kNothing, ipv6_only_rails},
    {"RB-ENV-015", "rails that are crossed without routes", Needs::kNothing, crossing_without_routes},
    {"RB-ENV-016", "GPU-initiated RDMA without the driver's permission", Needs::kNothing, gpu_initiated},
    {"RB-ENV-017", "settings for the GPUs of another vendor", Needs::kNothing, other_vendors_settings},
};

}  // namespace

std::span<const Rule> machine_environment_rules() {
  return kMachineEnvironmentRules;
}

}  // namespace railbed::check
