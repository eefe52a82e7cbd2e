// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_wants.h"

#include <algorithm>
#include <optional>

#include "agent/cluster/cluster_objects.h"
#include "agent/pod/meta_config.h"
#include "api/load.h"
#include "base/well_known.h"
#include "cni/config.h"
#include "doc/members.h"
#include "kube/pod.h"

namespace railbed::agent {
namespace {

// The networks that a pod names, one for each interface. Empty for more than an ADD accepts: the pod never starts.
std::vector<kube::ObjectKey> networks_named(const kube::ObjectKey& key, const doc::Value& pod) {
  std::vector<kube::ObjectKey> out;
  const std::map<std::string, std::string> annotations = annotations_of(pod);
  for (const char* selection : kChoiceKeys) {
    const auto text = annotations.find(selection);
    if (text == annotations.end()) continue;
    doc::Diagnostics ignored;
    for (const api::NetworkSelection& one : api::parse_networks_annotation(doc::Value(text->second), key.ns, ignored))
      out.push_back({*one.ns, *one.name});
  }
  if (out.size() > MetaConfig{}.max_networks) out.clear();
  return out;
}

// How many interfaces of each network the pods have.
std::map<kube::ObjectKey, uint64_t> interfaces_of(const kube::Objects& pods) {
  std::map<kube::ObjectKey, uint64_t> out;
  size_t all = 0;
  for (const auto& [key, pod] : pods) {
    if (kube::has_ended(*pod)) continue;
    const std::vector<kube::ObjectKey> networks = networks_named(key, *pod);
    if (all + networks.size() > kMostInterfacesAhead) continue;
    all += networks.size();
    for (const kube::ObjectKey& one : networks) ++out[one];
  }
  return out;
}

// Of the network's main plugin; nullopt where nodes share none of its ranges.
std::optional<api::IpamConfig> shared_ranges_of(const doc::Value& definition) {
  Result<NetworkInfo> network = network_of(definition);
  if (!network.has_value() || !network->config.is_object()) return std::nullopt;
  const auto list = cni::list_config_of(std::move(network->config));
  if (!list.has_value() || list->plugins.empty()) return std::nullopt;
  Result<api::IpamConfig> ipam = api::read_ipam(list->plugins.front().find("ipam"), network->key());
  if (!ipam.has_value() || ipam->type != api::IpamType::kWhereabouts) return std::nullopt;
  return *std::move(ipam);
}

// What is wanted of one set of ranges.
struct Demand {
  ipam::CellWant want;
  std::map<std::string, uint64_t> by_resource;  // the interfaces of pods; its VFs may be more
  uint64_t others = 0;
};

Demand& demand_for(std::vector<Demand>& all, const ipam::CellWant& want) {
  const auto same = std::ranges::find(all, want, &Demand::want);
  if (same != all.end()) return *same;
  all.push_back({.want = want, .by_resource = {}, .others = 0});
  return all.back();
}

}  // namespace

std::vector<ipam::CellWant> cell_wants(const kube::Objects& pods, const kube::Objects& networks,
                                       const std::map<std::string, uint64_t>& vfs) {
  const std::map<kube::ObjectKey, uint64_t> interfaces = interfaces_of(pods);
  std::vector<Demand> demands;
  for (const auto& [key, definition] : networks) {
    const auto here = interfaces.find(key);
    const uint64_t count = here != interfaces.end() ? here->second : 0;
    std::string resource = annotations_of(*definition)[kResourceAnnotation];
    if (count == 0 && !vfs.contains(resource)) continue;
    const std::optional<api::IpamConfig> ipam = shared_ranges_of(*definition);
    if (!ipam) continue;
    for (const ipam::CellWant& want : ipam::wants_of(*ipam, 0)) {
      Demand& demand = demand_for(demands, want);
      (resource.empty() ? demand.others : demand.by_resource[resource]) += count;
    }
  }
  std::vector<ipam::CellWant> out;
  for (Demand& one : demands) {
    one.want.addresses = one.others;
    for (const auto& [resource, count] : one.by_resource) {
      const auto here = vfs.find(resource);
      one.want.addresses += here != vfs.end() ? std::max(here->second, count) : count;
    }
    out.push_back(std::move(one.want));
  }
  return out;
}

}  // namespace railbed::agent
