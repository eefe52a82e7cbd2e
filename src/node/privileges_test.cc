// SPDX-License-Identifier: Apache-2.0
#include "node/privileges.h"

#include <gtest/gtest.h>

namespace railbed::node {
namespace {

// "capability: what for", one a line.
std::string words_of(const std::vector<Need>& needs) {
  std::string out;
  for (const Need& need : needs) out += need.capability + ": " + need.what_for + "\n";
  return out;
}

plan::NodePlan plan_with(const std::vector<plan::Action>& actions) {
  plan::PfPlan pf{.pf = *PciAddress::parse("0000:01:00.0"), .pf_name = "ens1f0"};
  for (const plan::Action& action : actions) pf.steps.push_back({.action = action});
  plan::NodePlan plan;
  plan.pfs.push_back(pf);
  return plan;
}

TEST(Privileges, AreThoseOfTheStepsAndThePods) {
  struct Case {
    const char* about;
    std::vector<plan::Action> actions;
    size_t attachments;
    std::string needs;
  };
  const std::string state = "CAP_DAC_OVERRIDE: the state below /run is root's\n";
  const Case cases[] = {
      {"nothing to do", {}, 0, state},
      {"only to be reported", {plan::NeedsReboot{"x"}}, 0, state},
      {"sysfs",
       {plan::SetAutoprobe{.on = false}, plan::SetVfCount{.from = 0, .to = 4}, plan::BindVf{}},
       0,
       "CAP_DAC_OVERRIDE: 3 steps write to /sys as root (first: ens1f0: " +
           plan::describe({.action = plan::SetAutoprobe{.on = false}}) + ")\n"},
      {"interfaces",
       {plan::SetPfUp{}},
       0,
       state + "CAP_NET_ADMIN: 1 step change interfaces (first: ens1f0: " +
           plan::describe({.action = plan::SetPfUp{}}) + ")\n"},
      {"a pod",
       {},
       1,
       state + "CAP_NET_ADMIN: 1 interface of pods are moved, named and given addresses\n"
               "CAP_SYS_ADMIN: 1 interface of pods go into network namespaces, which are made and entered\n"},
      {"pods",
       {},
       2,
       state + "CAP_NET_ADMIN: 2 interfaces of pods are moved, named and given addresses\n"
               "CAP_SYS_ADMIN: 2 interfaces of pods go into network namespaces, which are made and entered\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(words_of(needs_of(plan_with(c.actions), c.attachments)), c.needs) << c.about;
}

TEST(Privileges, ThatAreMissingAreNamedWithWhatNeedsThem) {
  const std::vector<Need> needs = {{"CAP_A", "one"}, {"CAP_B", "two"}, {"CAP_A", "three"}};
  EXPECT_TRUE(check_privileges(needs, {}));
  EXPECT_TRUE(check_privileges(needs, {"CAP_C"}));
  const auto refused = check_privileges(needs, {"CAP_A", "CAP_C"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kDenied);
  EXPECT_EQ(
      refused.error().to_string(),
      "privileges are missing, nothing was changed:\n  CAP_A: one\n  CAP_A: three\n  run it as root (sudo), or in a "
      "container with these capabilities");
}

}  // namespace
}  // namespace railbed::node
