// SPDX-License-Identifier: Apache-2.0
// The namespaces whose policies and networks railbed's operator serves, as they are now.
//
// Why: manifests name the namespace of the operator that they were written for. railbed serves them where they are, but
// not where such an operator runs: its own policies would be carried out twice.
// Threading: plain values, pure functions.
// Failure: none.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace railbed::controller {

struct PolicyNamespaces {
  std::set<std::string> served;  // the operator's own is always one: it was chosen for railbed
  std::set<std::string> taken;   // of the list, those in which an SR-IOV operator runs

  // Why policies of `ns` do not count; empty: they do.
  std::string why_not(const std::string& ns) const;
  friend bool operator==(const PolicyNamespaces&, const PolicyNamespaces&) = default;
};

// `own` is the operator's, `listed` are --policy-namespaces, `running` those in which an SR-IOV operator runs.
PolicyNamespaces policy_namespaces(const std::string& own, const std::vector<std::string>& listed,
                                   const std::set<std::string>& running);

}  // namespace railbed::controller
