// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_report.h"

#include <gtest/gtest.h>

#include "agent/cluster/test_node.h"

namespace railbed::agent {
namespace {

using State = graph::PolicyOutcome::State;
using PolicyState = api::NodeStatePolicy::State;

TEST(NodeReport, ReportsTheWorstOfEachPolicyAndAllOfItInOneLine) {
  plan::NodePlan plan;
  plan.policies = {{.policy = "net/a", .state = State::kApplied},
                   {.policy = "net/b", .state = State::kApplied},
                   {.policy = "net/c", .state = State::kPartly, .detail = "ens2 is gone"},
                   {.policy = "net/d", .state = State::kApplied}};
  plan.held_back = {
      {.pf = kPf0, .pf_name = "eth0", .change = "MTU 9000", .reason = "why", .policy = "net/b", .pods = {"ai/x"}},
      {.pf = kPf0, .pf_name = "eth0", .change = "MTU 9000", .reason = "why", .policy = "net/d", .pods = {"ai/x"}}};
  const std::vector<apply::StepFailure> failures = {{.pf = kPf0,
                                                     .pf_name = "eth0",
                                                     .policy = "net/d",
                                                     .error = {.message = "write: EBUSY", .hint = "wait"},
                                                     .remains = "eth0 keeps 2 VFs"}};
  const auto reported =
      status_of({.generation = 4, .plan = plan, .failures = failures, .problems = {}, .waits = {"later"}});
  EXPECT_EQ(reported.sync_status, "Failed");
  EXPECT_EQ(reported.observed_generation, 4);
  EXPECT_EQ(reported.last_sync_error,
            "write: EBUSY; eth0 keeps 2 VFs; policy c: ens2 is gone; later; eth0: MTU 9000: deferred, ai/x uses it "
            "(why); eth0: MTU 9000: deferred, ai/x uses it (why)");
  EXPECT_EQ(reported.policies, (std::vector<api::NodeStatePolicy>{
                                   {"a", PolicyState::kApplied, ""},
                                   {"b", PolicyState::kHeld, "eth0: MTU 9000: deferred, ai/x uses it (why)"},
                                   {"c", PolicyState::kFailed, "ens2 is gone"},
                                   {"d", PolicyState::kFailed,
                                    "write: EBUSY; eth0 keeps 2 VFs; eth0: MTU 9000: deferred, ai/x uses it (why)"}}));
}

TEST(NodeReport, ALongListEndsWithHowManyMore) {
  const plan::NodePlan plan;
  std::vector<std::string> problems(100, std::string(200, 'x'));
  const auto reported = status_of({.plan = plan, .failures = {}, .problems = problems});
  EXPECT_LT(reported.last_sync_error.size(), 4200U);
  EXPECT_TRUE(reported.last_sync_error.ends_with(" (and 80 more)")) << reported.last_sync_error.substr(4000);
}

TEST(NodeReport, StepsThatAreLeftAreNoSuccess) {
  plan::NodePlan plan;
  plan.pfs = {{kPf0, "eth0", {{.id = "x", .action = plan::SetPfUp{true}}}}};
  EXPECT_EQ(status_of({.plan = plan, .failures = {}}).sync_status, "InProgress");
}

// A pod that comes or goes is no reason to write: its VF is reported as it was.
TEST(NodeReport, VfsOfPodsAreReportedAsBefore) {
  const auto vf = [](int index, PciAddress address, std::string name, std::string mac) {
    return api::FoundVf{.index = index, .address = address, .driver = "igbvf", .name = name, .mac = mac, .mtu = 1500};
  };
  const api::FoundNic before{.address = kPf0,
                             .name = "eth0",
                             .mtu = 1500,
                             .link_speed = "100000 Mb/s",
                             .link_admin_state = "up",
                             .vfs = {vf(0, kVf00, "eth2", "02:00:00:00:00:01")}};
  api::FoundNic now = before;
  now.vfs = {{.index = 0, .address = kVf00, .driver = "igbvf", .mac = "0a:00:00:00:00:09", .vlan = 100}};
  EXPECT_EQ(steady_nics({now}, {before}, {kVf00}), std::vector{before});
  EXPECT_EQ(steady_nics({now}, {before}, {}), std::vector{now});
  EXPECT_EQ(steady_nics({now}, {}, {kVf00}), std::vector{now}) << "nothing was reported before";
  // A PF that a pod has.
  api::FoundNic away = before;
  away.name.clear();
  away.mtu = 0;
  away.link_speed.clear();
  away.link_admin_state.clear();
  EXPECT_EQ(steady_nics({away}, {before}, {kPf0}), std::vector{before});
}

}  // namespace
}  // namespace railbed::agent
