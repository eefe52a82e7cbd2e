// SPDX-License-Identifier: Apache-2.0
#include "controller/settle.h"

namespace railbed::controller {

Settled settle(const SettleState& before, const std::optional<KindDefinition>& kind, bool is_namespace_going,
               bool has_policies) {
  if (is_namespace_going || !kind.has_value()) {
    Settled out{.verdict = Settled::Verdict::kDoubtful, .next = before};
    out.next.with_namespace = before.with_namespace || is_namespace_going;
    return out;
  }
  Settled out{.next = {.policy_kind = kind->uid, .without_policies = before.without_policies}};
  WithoutPolicies& without = out.next.without_policies;
  // Installed again since: the policies went with the former definition.
  const bool is_same_kind = kind->uid == before.policy_kind;
  if (has_policies || !is_same_kind) without = WithoutPolicies::kKeepSpecs;
  if (!has_policies && before.deleted_together == 1 && is_same_kind && !before.with_namespace)
    without = WithoutPolicies::kEmptySpecs;
  if (has_policies || before.deleted_together == 0 || without == WithoutPolicies::kEmptySpecs) return out;
  out.verdict = Settled::Verdict::kVanished;
  out.vanished = before.deleted_together;
  return out;
}

}  // namespace railbed::controller
