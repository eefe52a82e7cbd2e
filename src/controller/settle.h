// SPDX-License-Identifier: Apache-2.0
// Whether what is left of the policies is what somebody wants.
//
// Why: with a definition or a namespace that is deleted, or by a mistake, all policies go one after the other, and
// empty specs would remove the VFs of running pods. When two or more go and none is left, specs stay until somebody
// confirms; the last one that is deleted alone is an order, if the definition of its kind is still the same and its
// namespace was not deleted with it. Threading: pure. Failure: none.
#pragma once

#include <optional>
#include <string>

#include "controller/networks.h"
#include "controller/node_states.h"

namespace railbed::controller {

// What is remembered from one time that the policies have settled to the next.
struct SettleState {
  int deleted_together = 0;  // policies, since then
  std::string policy_kind;   // UID of their definition then
  WithoutPolicies without_policies = WithoutPolicies::kKeepSpecs;
  bool with_namespace = false;  // a namespace of policies was being deleted then
  friend bool operator==(const SettleState&, const SettleState&) = default;
};

struct Settled {
  enum class Verdict : uint8_t {
    kDoubtful,  // the policies go with their definition or namespace: ask again later
    kVanished,  // several at once, and none is left: specs stay
    kClear,
  };
  Verdict verdict = Verdict::kClear;
  SettleState next;
  int vanished = 0;  // policies
};

// `kind` is the definition of policies; nothing where it cannot be read, or is being deleted.
Settled settle(const SettleState& before, const std::optional<KindDefinition>& kind, bool is_namespace_going,
               bool has_policies);

}  // namespace railbed::controller
