// SPDX-License-Identifier: Apache-2.0
// The content of a pod's namespace, listed once and cached: links, routes, rules, and what will be added.
//
// Why: a request reads each kind of data from the pod once, regardless of the number of interfaces; and two interfaces
// of one request must not choose the same routing table.
// Threading: one thread.
// Failure: the port's own.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/ports/netns.h"

namespace railbed::attach {

class PodView {
 public:
  // Both must outlive this.
  PodView(const os::Netns& netns, os::LinkPort& links) : netns_(netns), links_(links) {}

  const os::Netns& netns() const { return netns_; }
  os::LinkPort& links() { return links_; }
  Result<os::NetnsIdentity> identity();

  Result<std::vector<os::Link>*> list();
  // By name or alternative name, valid until forget(); null where there is none.
  Result<const os::Link*> named(const std::string& name);
  // The interface of the main table's IPv4 default route; null without one.
  Result<const os::Link*> of_default_route();
  // The routes of an interface, in every table.
  Result<std::vector<Route>> routes_of(IfIndex link);
  // The first number from 100 up that no rule, route or earlier answer uses.
  Result<int> free_table();
  Result<std::vector<os::Rule>*> rules();
  // The table of a VRF that exists or will be made. Conflict if `wanted` differs from it, or if another kind of
  // interface has the name.
  Result<int> vrf_table(const std::string& name, int wanted);
  void forget();

 private:
  Result<std::vector<Route>*> routes();

  const os::Netns& netns_;
  os::LinkPort& links_;
  std::optional<std::vector<os::Link>> all_;
  std::optional<std::vector<Route>> routes_;
  std::optional<std::vector<os::Rule>> rules_;
  std::set<int> handed_out_;
  std::map<std::string, int> vrfs_;  // that will be made
};

}  // namespace railbed::attach
