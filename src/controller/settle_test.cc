// SPDX-License-Identifier: Apache-2.0
#include "controller/settle.h"

#include <gtest/gtest.h>

namespace railbed::controller {
namespace {

using Verdict = Settled::Verdict;

constexpr WithoutPolicies kKeep = WithoutPolicies::kKeepSpecs, kEmpty = WithoutPolicies::kEmptySpecs;

TEST(Settle, TheLastPolicyAloneIsAnOrderAndManyAtOnceAreNot) {
  struct Case {
    const char* why;
    SettleState before;
    std::optional<KindDefinition> kind;
    bool is_namespace_going, has_policies;
    Verdict verdict;
    SettleState next;
  };
  const KindDefinition same{.uid = "k", .created = ""}, other{.uid = "k2", .created = ""};
  const SettleState one{1, "k", kKeep}, two{2, "k", kKeep}, gone{1, "k", kKeep, true};
  for (const Case& c : {
           Case{"the last one", one, same, false, false, Verdict::kClear, {0, "k", kEmpty}},
           Case{"one of several", one, same, false, true, Verdict::kClear, {0, "k", kKeep}},
           Case{"two, none is left", two, same, false, false, Verdict::kVanished, {0, "k", kKeep}},
           Case{"two, others are left", two, same, false, true, Verdict::kClear, {0, "k", kKeep}},
           Case{"the definition was installed again", one, other, false, false, Verdict::kVanished, {0, "k2", kKeep}},
           Case{"the definition is being deleted", one, {}, false, false, Verdict::kDoubtful, one},
           Case{"the namespace is being deleted", two, same, true, false, Verdict::kDoubtful, {2, "k", kKeep, true}},
           Case{"the last one, with its namespace", gone, same, false, false, Verdict::kVanished, {0, "k", kKeep}},
           Case{"others are left in another one", gone, same, false, true, Verdict::kClear, {0, "k", kKeep}},
           Case{"none was deleted", {0, "k", kEmpty}, same, false, false, Verdict::kClear, {0, "k", kEmpty}},
           Case{"the first ones after an order", {0, "k", kEmpty}, same, false, true, Verdict::kClear, {0, "k", kKeep}},
       }) {
    const Settled got = settle(c.before, c.kind, c.is_namespace_going, c.has_policies);
    EXPECT_EQ(got.verdict, c.verdict) << c.why;
    EXPECT_EQ(got.next, c.next) << c.why;
    EXPECT_EQ(got.vanished, c.verdict == Verdict::kVanished ? c.before.deleted_together : 0) << c.why;
  }
}

}  // namespace
}  // namespace railbed::controller
