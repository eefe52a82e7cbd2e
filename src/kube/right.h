// SPDX-License-Identifier: Apache-2.0
// A right in the API server that a component needs, as data beside the code that uses it.
//
// Why: the roles in deploy/rbac are made of what components declare (tests write the files), so that no role lacks what
// a component asks for, and none grants what no component does. Tests of components compare the requests that are made
// with what is declared.
// Threading: plain values.
// Failure: none.
// Source: Kubernetes, "Authorization Overview", "Using RBAC Authorization".
#pragma once

#include <cstdint>
#include <string_view>

#include "kube/counters.h"
#include "kube/resource.h"

namespace railbed::kube {

// A set of verbs. Applying an object needs two of RBAC's: patch, and create where it may not be there.
class Verbs {
 public:
  constexpr Verbs() = default;
  constexpr Verbs(Verb one) : bits_(1u << static_cast<unsigned>(one)) {}  // one verb is a set

  constexpr bool has(Verb one) const { return ((bits_ >> static_cast<unsigned>(one)) & 1u) != 0; }
  friend constexpr Verbs operator|(Verbs a, Verbs b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend bool operator==(const Verbs&, const Verbs&) = default;

 private:
  unsigned bits_ = 0;
};
constexpr Verbs operator|(Verb a, Verb b) {
  return Verbs(a) | Verbs(b);
}

enum class Where : uint8_t {
  kEverywhere,
  kOwnNamespace,    // railbed's
  kPoolsNamespace,  // that of whereabouts' pools
};
// Which file grants it.
enum class GrantedBy : uint8_t {
  kRbac,     // deploy/rbac
  kSharing,  // deploy/sharing/whereabouts.yaml; without it the component does without
  kDrains,   // deploy/drains; without it no pod is evicted
};

struct Right {
  Resource kind;
  Verbs verbs;
  Part part = Part::kObject;
  Where where = Where::kEverywhere;
  GrantedBy granted_by = GrantedBy::kRbac;
  std::string_view name = {};  // of the one object that it is about; empty: all of the kind
  std::string_view also = {};  // a verb that no request has, and that admission policies ask about
  std::string_view why = {};   // beside the rule in the role
};

}  // namespace railbed::kube
