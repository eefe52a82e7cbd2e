// SPDX-License-Identifier: Apache-2.0
// Which prefix the names of this node's resources have ("nvidia.com" in nvidia.com/rail0), and who said it.
//
// Why: `up`, `plan`, an agent without a cluster and the agent's loop over its node state name the same VFs, and a pod
// that requests a name which one of them does not use stays Pending. So what the operator said and what the last `up`
// was given are kept in the state: the operator's counts first, then `up`'s, then a program's own. Where two of them
// differ, it is reported.
// Threading: as state::Store; the process that writes holds its lock.
// Failure: of the store; Invalid for what can be no prefix.
#pragma once

#include <string>
#include <string_view>

#include "state/store.h"

namespace railbed::node {

inline constexpr std::string_view kDefaultPrefix = "openshift.io";

struct KnownPrefixes {
  std::string ordered;  // by the operator, in the node state; empty: none
  std::string given;    // to the last `up` with --resource-prefix; empty: none

  // What counts where a program of this node has `own`.
  std::string chosen(std::string_view own) const;
  // Why `given` does not count; empty: it does, or there is none.
  std::string conflict() const;
};
// `store` may be null: nothing is known then.
Result<KnownPrefixes> known_prefixes(state::Store* store);

// Each writes only what is new; empty: it is forgotten.
Result<void> keep_ordered_prefix(state::Store& store, const std::string& prefix);
Result<void> keep_given_prefix(state::Store& store, const std::string& prefix);

// For --resource-prefix; an empty one is none.
Result<void> check_prefix(const std::string& prefix);

}  // namespace railbed::node
