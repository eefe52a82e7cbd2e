// SPDX-License-Identifier: Apache-2.0
// Which network provides a pod's default route: one per family, by the pod's annotation ("default-route").
//
// Threading: pure.
// Failure: none.
#pragma once

#include <algorithm>
#include <vector>

#include "base/route.h"

namespace railbed::agent {

// Families whose default route another network of the pod has: this one loses its own.
struct DroppedDefaults {
  bool v4 = false;
  bool v6 = false;
  bool has(IpFamily family) const { return family == IpFamily::kV4 ? v4 : v6; }
  bool any() const { return v4 || v6; }
};

inline void drop_defaults(const DroppedDefaults& dropped, std::vector<Route>& routes) {
  std::erase_if(routes, [&](const Route& route) { return route.is_default() && dropped.has(route.family()); });
}

// The gateways that the pod asks for replace the network's own default routes of their families.
inline void replace_defaults(const std::vector<IpAddress>& gateways, std::vector<Route>& routes) {
  for (const IpAddress& gateway : gateways) {
    std::erase_if(routes, [&](const Route& route) { return route.is_default() && route.family() == gateway.family; });
    routes.push_back(Route::default_by(gateway));
  }
}

}  // namespace railbed::agent
