// SPDX-License-Identifier: Apache-2.0
// Routing by source address: the rules and routes that send traffic from an interface's addresses through that
// interface.
//
// As in the original sbr plugin: a rule "from ADDRESS" and a table per address; the table has the default route through
// the address's gateway and the interface's routes that belong to the address; these are no longer in the main table.
// If the network names the table (and no gateways or hints for it), there are rules only. The link-local network stays
// there: the kernel needs it.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <vector>

#include "attach/interface_spec.h"

namespace railbed::attach {

struct SourceRoutes {
  std::vector<Route> add;     // to the tables, in an order in which the kernel takes them
  std::vector<Route> remove;  // from the main table
};

// One rule per address; `tables` has one entry per address.
std::vector<os::Rule> source_rules(const std::vector<ipam::Assigned>& addresses, const std::vector<int>& tables);

// `main` are the interface's routes in the main table; `others` are more routes of it that are in no table yet.
SourceRoutes source_routes(const SourceRouting& wanted, const std::vector<ipam::Assigned>& addresses,
                           const std::vector<os::Rule>& rules, const std::vector<Route>& main,
                           const std::vector<Route>& others);

// Ordered so that the kernel accepts them: a gateway must be in a network that already has its route.
std::vector<Route> networks_first(std::vector<Route> routes);

}  // namespace railbed::attach
