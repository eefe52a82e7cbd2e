// SPDX-License-Identifier: Apache-2.0
// A drain of the node, as its agent carries it out: which VFs are withdrawn and come back, and what is reported.
#include <cerrno>

#include <gtest/gtest.h>

#include "agent/cluster/drained_vfs.h"
#include "agent/cluster/node_keeper.h"
#include "agent/cluster/test_node.h"
#include "doc/json.h"
#include "drain/agent_report.h"

namespace railbed::agent {
namespace {

using Calls = std::vector<std::string>;

const std::string kRail0 = "openshift.io/rail0";
constexpr const char* kOthers = "openshift.io/rail1: 0000:02:10.0 0000:02:10.2 0000:02:10.4\n";
constexpr const char* kNoDrain = "no VF is withdrawn for a drain, because it cannot be read: ";

class NodeDrainTest : public testing::Test {
 protected:
  static doc::Value with_drain_text(doc::Value state, const std::string& text) {
    state.find("metadata")->set("annotations", doc::Value::object()).set(drain::kDrainAnnotation, text);
    return state;
  }
  static doc::Value drained(doc::Value state, drain::Phase phase = drain::Phase::kWithdrawn) {
    return with_drain_text(std::move(state),
                           drain::to_text({.phase = phase, .change = "c1", .resources = {kRail0}, .slot = true}));
  }
  // What the last pass reported; a text that cannot be read fails the test.
  drain::AgentReport last_report() const {
    EXPECT_FALSE(node.heard.drain_reports.empty());
    if (node.heard.drain_reports.empty()) return {};
    const Result<drain::AgentReport> report = drain::read_agent_report(node.heard.drain_reports.back());
    EXPECT_TRUE(report.has_value()) << node.heard.drain_reports.back();
    return report.has_value() ? *report : drain::AgentReport{};
  }
  drain::AgentReport report_of(bool withdrawn, bool applied) const {
    return {.change = "c1",
            .withdrawn = withdrawn ? std::vector<std::string>{kRail0} : std::vector<std::string>{},
            .applied = applied,
            .failure = "",
            .boot_id = node.kernel.boot_id()};
  }
  // The calls of one pass.
  Calls calls_of_pass(const doc::Value& state) {
    node.offers.calls.clear();
    node.pass(state);
    return node.offers.calls;
  }

  TestNode node;
};

TEST_F(NodeDrainTest, WithdrawsTheFreeVfsOfItsResourcesAndOffersThemAgainAfterIt) {
  const doc::Value at_rest = node.state_of(two_policies());
  node.pass(at_rest);
  EXPECT_EQ(node.heard.drain_reports.back(), "") << "without a drain there is nothing to report";
  node.attach("ai/vllm-0", kVf00);
  const doc::Value state = drained(at_rest);
  node.kernel.clear_journal();
  node.offers.when_withdrawn = [&] { EXPECT_EQ(node.offers.withdrawn, std::set{kVf01}); };
  EXPECT_EQ(calls_of_pass(state), (Calls{"allocated", "withdraw 1", "allocated", "offer"}));
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0= 0000:01:10.2-\n") + kOthers);
  EXPECT_EQ(last_report(), report_of(true, true));
  EXPECT_EQ(node.reported("syncStatus"), "Succeeded");
  EXPECT_EQ(node.kernel.journal(), Calls{});

  EXPECT_EQ(calls_of_pass(state), Calls{"allocated"}) << "nothing is offered or withdrawn again";
  EXPECT_EQ(last_report(), report_of(true, true));

  // What the pod had is withdrawn, too.
  node.detach("ai/vllm-0");
  node.offers.when_withdrawn = [&] { EXPECT_EQ(node.offers.withdrawn, std::set{kVf00}); };
  EXPECT_EQ(calls_of_pass(state), (Calls{"allocated", "withdraw 1", "allocated", "offer"}));
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0- 0000:01:10.2-\n") + kOthers);

  EXPECT_EQ(calls_of_pass(at_rest), Calls{"offer"});
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n") + kOthers);
  EXPECT_EQ(node.heard.drain_reports.back(), "");
}

// Given up for a while: all is offered, and the report still says which boot this is.
TEST_F(NodeDrainTest, ABlockedOneWithdrawsNothing) {
  const doc::Value at_rest = node.state_of(two_policies());
  node.pass(drained(at_rest));
  node.pass(with_drain_text(at_rest, drain::to_text({.phase = drain::Phase::kBlocked, .change = "c1", .why = "late"})));
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n") + kOthers);
  EXPECT_EQ(last_report(), report_of(false, true));
}

TEST_F(NodeDrainTest, AVfOfAPodWithoutAttachmentStaysHealthy) {
  const doc::Value at_rest = node.state_of(two_policies());
  node.pass(at_rest);
  node.offers.given = {{kVf01, "ai/dpdk"}};
  node.pass(drained(at_rest));
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0- 0000:01:10.2=\n") + kOthers);
  EXPECT_EQ(last_report(), report_of(true, true));
}

TEST_F(NodeDrainTest, AVfThatAPodGetsWhileItIsWithdrawnIsThePods) {
  const doc::Value at_rest = node.state_of(two_policies());
  node.pass(at_rest);
  node.offers.when_withdrawn = [&] { node.offers.given = {{kVf00, "ai/late"}}; };
  node.pass(drained(at_rest));
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0= 0000:01:10.2-\n") + kOthers);
}

TEST_F(NodeDrainTest, NothingIsReportedAsWithdrawnThatASilentKubeletMayHaveGivenAway) {
  const doc::Value at_rest = node.state_of(two_policies());
  const doc::Value state = drained(at_rest);
  node.pass(at_rest);
  node.offers.silent = true;
  EXPECT_EQ(node.pass(state), node.settings.waiting);
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0= 0000:01:10.2=\n") + kOthers);
  EXPECT_EQ(last_report(), report_of(false, true));
  node.offers.silent = false;
  node.pass(state);
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0- 0000:01:10.2-\n") + kOthers);
  EXPECT_EQ(last_report(), report_of(true, true));
  // What is withdrawn stays it: no pod can have got it.
  node.offers.silent = true;
  EXPECT_EQ(calls_of_pass(state), Calls{"allocated"});
  EXPECT_EQ(last_report(), report_of(true, true));
}

TEST_F(NodeDrainTest, TheChangeIsAppliedWhenItsPodsHaveEndedAndItsVfsComeBackWithTheEnd) {
  node.pass(node.state_of(policy_text("rail0", "eth0", 2)));
  node.attach("ai/vllm-0", kVf00);
  const doc::Value more = node.state_of(policy_text("rail0", "eth0", 4), 2);
  node.kernel.clear_journal();
  node.pass(drained(more, drain::Phase::kEvicting));
  EXPECT_EQ(node.kernel.journal(), Calls{});
  EXPECT_EQ(node.reported("lastSyncError"),
            "eth0: 4 VFs instead of 2: deferred, ai/vllm-0 uses it (policy rail0 requests 4 VFs, found 2)")
      << "withdrawn VFs are not in use";
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0: 0000:01:10.0= 0000:01:10.2-\n");
  EXPECT_EQ(last_report(), report_of(true, false));

  node.detach("ai/vllm-0");
  node.pass(drained(more, drain::Phase::kChanging));
  EXPECT_EQ(node.reported("syncStatus"), "Succeeded") << doc::to_json(node.reported());
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0: 0000:01:10.0- 0000:01:10.2- 0000:01:10.4- 0000:01:10.6-\n");
  EXPECT_EQ(last_report(), report_of(true, true));
  node.pass(more);
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0: 0000:01:10.0 0000:01:10.2 0000:01:10.4 0000:01:10.6\n");
  EXPECT_EQ(node.heard.drain_reports.back(), "");
}

TEST_F(NodeDrainTest, WhyAChangeCannotBeAppliedIsReported) {
  node.kernel.fail_when("0000:01:00.0/sriov_numvfs", EBUSY, -1);
  node.pass(drained(node.state_of(policy_text("rail0", "eth0", 2)), drain::Phase::kChanging));
  drain::AgentReport report = last_report();
  EXPECT_EQ(report.failure, node.reported("lastSyncError"));
  EXPECT_NE(report.failure.find("EBUSY"), std::string::npos) << report.failure;
  report.failure.clear();
  EXPECT_EQ(report, report_of(true, false)) << "none of its VFs is there, so none is offered";
}

// Nothing else of the order suffers.
TEST_F(NodeDrainTest, OneThatCannotBeReadWithdrawsNothingAndIsAProblem) {
  for (const char* text : {"damaged", "[]", "{}", R"({"version":1})", R"({"version":1,"phase":"Later"})",
                           R"({"version":2,"phase":"Withdrawn","resources":["openshift.io/rail0"]})",
                           R"({"version":1,"phase":"Withdrawn","resources":"openshift.io/rail0"})"}) {
    TestNode fresh;
    fresh.pass(drained(fresh.state_of(policy_text("rail0", "eth0", 2))));
    EXPECT_EQ(fresh.offers.last(), "openshift.io/rail0: 0000:01:10.0- 0000:01:10.2-\n") << text;
    fresh.pass(with_drain_text(fresh.state_of(policy_text("rail0", "eth0", 3), 2), text));
    EXPECT_EQ(fresh.offers.last(), "openshift.io/rail0: 0000:01:10.0 0000:01:10.2 0000:01:10.4\n") << text;
    EXPECT_EQ(fresh.reported("syncStatus"), "Failed") << text;
    EXPECT_TRUE(fresh.reported("lastSyncError").starts_with(kNoDrain)) << fresh.reported("lastSyncError");
    const Result<drain::AgentReport> report = drain::read_agent_report(fresh.heard.drain_reports.back());
    ASSERT_TRUE(report.has_value()) << text;
    EXPECT_EQ(report->change, "") << text;
    EXPECT_EQ(report->withdrawn, std::vector<std::string>{}) << text;
    EXPECT_FALSE(report->applied) << text;
    EXPECT_EQ(report->failure, fresh.reported("lastSyncError")) << text;
  }
}

TEST_F(NodeDrainTest, AnAgentThatStartsAgainGoesOnAlsoWithoutAnApiServer) {
  const doc::Value at_rest = node.state_of(two_policies());
  const doc::Value state = drained(at_rest);
  node.pass(at_rest);
  node.attach("ai/vllm-0", kVf00);
  node.pass(state);
  const std::string offered = node.offers.last();
  EXPECT_EQ(offered, std::string("openshift.io/rail0: 0000:01:10.0= 0000:01:10.2-\n") + kOthers);
  const std::string reported = node.heard.drain_reports.back();
  const size_t reports = node.heard.drain_reports.size();
  node.restart();
  node.offers.calls.clear();
  node.offers.offers.clear();
  node.keeper->pass({});
  EXPECT_EQ(node.offers.calls, (Calls{"allocated", "offer"})) << "this process has offered nothing before";
  EXPECT_EQ(node.offers.last(), offered);
  EXPECT_EQ(node.heard.drain_reports.size(), reports) << "no listener gets it";
  node.pass(state);
  EXPECT_EQ(node.heard.drain_reports.back(), reported);
}

// A node state of before the drain, as the API server has it after a restore: it is as it says.
TEST_F(NodeDrainTest, ANodeStateThatSaysNothingOfItEndsIt) {
  const doc::Value at_rest = node.state_of(two_policies());
  node.pass(drained(at_rest));
  node.restart();
  node.pass(at_rest);
  EXPECT_EQ(node.offers.last(), std::string("openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n") + kOthers);
  EXPECT_EQ(node.heard.drain_reports.back(), "");
}

TEST(DrainedVfs, AreNotHealthyOnlyIfNoPodCanHaveThem) {
  kubelet::NodeDevices devices;
  devices.resources[kRail0] = {plan::PoolVf{.pf = kPf0, .index = {0}, .address = kVf00},
                               plan::PoolVf{.pf = kPf0, .index = {1}, .address = kVf01},
                               plan::PoolVf{.pf = kPf0, .index = {2}}};
  const std::set<PciAddress> both = vfs_of_resources({kRail0, "openshift.io/none"}, devices);
  EXPECT_EQ(both, (std::set{kVf00, kVf01})) << "one without an address is not there yet";
  struct Case {
    Holders holders;
    std::set<PciAddress> drained;
    std::vector<std::string> withdrawn;
  };
  const std::vector<std::string> all{kRail0, "openshift.io/none"}, none{"openshift.io/none"};
  const Case cases[] = {
      {{.known = HoldersKnown::kYes, .held = {}, .free_before = {}}, {kVf00, kVf01}, all},
      {{.known = HoldersKnown::kYes, .held = {kVf00}, .free_before = {kVf00}}, {kVf01}, all},
      {{.known = HoldersKnown::kNo, .held = {}, .free_before = {}}, {}, none},
      {{.known = HoldersKnown::kNo, .held = {}, .free_before = {kVf01}}, {kVf01}, none},
      {{.known = HoldersKnown::kNo, .held = {kVf00}, .free_before = {kVf00, kVf01}}, {kVf00, kVf01}, all}};
  for (const Case& one : cases) {
    kubelet::NodeDevices now = devices;
    add_drained(both, one.holders, now);
    EXPECT_EQ(now.drained, one.drained);
    EXPECT_EQ(now.drained.size() + now.drained_of_pods.size(), 2u);
    EXPECT_EQ(withdrawn_resources(all, one.holders.known, now), one.withdrawn);
  }
}

}  // namespace
}  // namespace railbed::agent
