// SPDX-License-Identifier: Apache-2.0
// Whether the disappearance of policies is intended.
//
// Why: when a definition or a namespace is deleted, intended or not, all policies are deleted one after the other, and
// empty specs would remove the VFs of running pods. When two or more are deleted and none remains, specs stay until an
// administrator confirms; the deletion of the last one alone is intended, if the definition of its kind is unchanged.
// Threading: pure.
// Failure: none.
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
