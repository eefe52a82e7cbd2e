// SPDX-License-Identifier: Apache-2.0
#include "attach/pod_view.h"

#include <algorithm>

namespace railbed::attach {
namespace {

constexpr int kFirstTable = 100;  // as the original sbr plugin counts

bool is_kernels_own(int table) {
  return table >= 253 && table <= 255;
}

}  // namespace

Result<os::NetnsIdentity> PodView::identity() {
  const auto identity = TRY(links_.namespace_number());
  return os::NetnsIdentity{.number = identity.number, .of_file = identity.of_file};
}

Result<std::vector<os::Link>*> PodView::list() {
  if (!all_.has_value()) all_ = TRY(links_.list(os::WithVfs::kNo));
  return &*all_;
}

Result<const os::Link*> PodView::named(const std::string& name) {
  for (const os::Link& link : *TRY(list()))
    if (link.name.value == name || std::ranges::count(link.alt_names, name) > 0) return &link;
  return nullptr;
}

Result<const os::Link*> PodView::of_default_route() {
  constexpr int kMainTable = 254;
  for (const Route& route : *TRY(routes())) {
    if (!route.is_default() || route.family() != IpFamily::kV4) continue;
    if (route.table.value_or(kMainTable) != kMainTable) continue;
    for (const os::Link& link : *TRY(list()))
      if (link.index == route.link) return &link;
  }
  return nullptr;
}

Result<std::vector<Route>*> PodView::routes() {
  if (!routes_.has_value()) routes_ = TRY(links_.all_routes());
  return &*routes_;
}

Result<std::vector<os::Rule>*> PodView::rules() {
  if (!rules_.has_value()) rules_ = TRY(links_.rules());
  return &*rules_;
}

Result<std::vector<Route>> PodView::routes_of(IfIndex link) {
  std::vector<Route> mine;
  for (const Route& route : *TRY(routes()))
    if (route.link == link) mine.push_back(route);
  return mine;
}

Result<int> PodView::free_table() {
  std::set<int> taken = handed_out_;
  for (const os::Rule& rule : *TRY(rules())) taken.insert(rule.table);
  for (const Route& route : *TRY(routes())) taken.insert(route.table.value_or(0));
  for (const os::Link& link : *TRY(list())) taken.insert(link.vrf_table);
  int table = kFirstTable;
  while (taken.contains(table) || is_kernels_own(table)) ++table;
  handed_out_.insert(table);
  return table;
}

Result<int> PodView::vrf_table(const std::string& name, int wanted) {
  int there = 0;
  if (const os::Link* link = TRY(named(name))) {
    if (link->kind != "vrf") return fail(Code::kConflict, "{} exists in the pod and is not a VRF", name);
    there = link->vrf_table;
  } else if (vrfs_.contains(name)) {
    there = vrfs_[name];
  }
  if (there != 0 && wanted != 0 && there != wanted)
    return fail(Code::kConflict, "VRF {} of the pod has table {}, not {}", name, there, wanted);
  if (there != 0) return there;
  std::set<int> taken = handed_out_;
  for (const os::Link& link : *TRY(list())) taken.insert(link.vrf_table);
  int table = wanted;
  if (table == 0)
    for (table = 1; taken.contains(table) || is_kernels_own(table);) ++table;
  handed_out_.insert(table);
  vrfs_[name] = table;
  return table;
}

void PodView::forget() {
  all_.reset();
  routes_.reset();
  rules_.reset();
}

}  // namespace railbed::attach
