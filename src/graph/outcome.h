// SPDX-License-Identifier: Apache-2.0
// The result of a policy on one node, for people.
//
// Why: a policy that matches nothing, is shadowed by another, or requests what a device does not support must be
// reported (the operator is silent about it).
// Threading: plain values.
// Failure: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::graph {

struct PolicyOutcome {
  enum class State : uint8_t {
    kApplied,    // counts on every PF it matches
    kPartly,     // counts on some of them; `shadowed_by` and `detail` describe the others
    kShadowed,   // others with a lower priority number took all its VFs
    kNoMatch,    // its nicSelector takes no NIC of this node
    kOtherNode,  // its nodeSelector does not take this node
    kRefused,    // impossible or not allowed on this node
    kIgnored,    // named "default", or numVfs is 0
  };
  std::string policy;  // "namespace/name"
  State state = State::kNoMatch;
  std::vector<std::string> pfs;          // names (and addresses) of PFs where it counts
  std::vector<std::string> shadowed_by;  // "namespace/name on ens1f0"
  std::string detail;                    // why it matched nothing, was refused, …
  doc::Span span;
  friend bool operator==(const PolicyOutcome& a, const PolicyOutcome& b) {
    return a.policy == b.policy && a.state == b.state && a.pfs == b.pfs && a.shadowed_by == b.shadowed_by &&
           a.detail == b.detail;
  }
};

// "applied", "partly", "shadowed", "no match", "other node", "refused", "ignored".
std::string_view outcome_name(PolicyOutcome::State state);

}  // namespace railbed::graph
