// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_namespaces.h"

#include "base/format.h"

namespace railbed::controller {

std::string PolicyNamespaces::why_not(const std::string& ns) const {
  if (served.contains(ns)) return "";
  if (taken.contains(ns))
    return fmt::format("an SR-IOV operator runs in namespace {}: its policies are that one's", ns);
  return fmt::format("policies count in {} {}; move it there, or add {} to the operator's --policy-namespaces",
                     served.size() == 1 ? "namespace" : "namespaces", fmt::join(served, ", "), ns);
}

PolicyNamespaces policy_namespaces(const std::string& own, const std::vector<std::string>& listed,
                                   const std::set<std::string>& running) {
  PolicyNamespaces out{.served = {own}, .taken = {}};
  for (const std::string& ns : listed)
    if (ns != own) (running.contains(ns) ? out.taken : out.served).insert(ns);
  return out;
}

}  // namespace railbed::controller
