// SPDX-License-Identifier: Apache-2.0
#include "labels/rails_ready.h"

#include <functional>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doc/json.h"
#include "labels/test_node.h"

namespace railbed::labels {
namespace {

using facts::LinkType;

constexpr const char* kBoot = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
constexpr const char* kFormerBoot = "16fd2706-8baf-433b-82eb-8c7fada847da";

// A node with two rails, as ordered.
struct RailNode {
  facts::NodeFacts facts = testing::node({testing::nic(0, LinkType::kEthernet), testing::nic(1, LinkType::kEthernet)});
  Offered offered = {{"x/rail0", {{.pf = testing::pf(0)}}}, {"x/rail1", {{.pf = testing::pf(1)}}}};
  std::optional<std::vector<WantedRail>> wanted = std::vector<WantedRail>{
      {.rail = 0, .pf = testing::pf(0), .pf_name = "ens0", .vfs = 8, .resources = {"x/rail0"}, .rated_gbps = 400},
      {.rail = 1, .pf = testing::pf(1), .pf_name = "ens1", .vfs = 8, .resources = {"x/rail1"}, .rated_gbps = 400}};
  std::string boot = kBoot;
  std::optional<RailsCondition> before = {};
  bool is_seen = true;

  RailsCondition condition() const {
    return rails_ready(
        {.wanted = wanted, .offered = offered, .facts = is_seen ? &facts : nullptr, .boot = boot, .before = before});
  }
};

std::string in_words(const RailsCondition& condition) {
  return fmt::format("{} {}: {}", name_of(condition.status), condition.reason, condition.message);
}

TEST(RailsReady, SaysWhichRailAndWhy) {
  struct Case {
    std::function<void(RailNode&)> change;
    const char* expected;
  };
  const Case cases[] = {
      {[](RailNode&) {}, "True RailsAsOrdered: 2 rails are as ordered"},
      {[](RailNode& n) { n.wanted->clear(); }, "True NoRailsWanted: no policy wants VFs on this node"},
      {[](RailNode& n) { n.wanted.reset(); },
       "Unknown NoOrder: no node state with a decision of the operator is known yet"},
      {[](RailNode& n) { n.is_seen = false; }, "Unknown MachineUnknown: the NICs of this machine are not known yet"},
      {[](RailNode& n) { n.facts.unavailable = {"PCI functions"}; },
       "Unknown MachineUnknown: the NICs of this machine are not known yet"},
      {[](RailNode& n) { n.boot = ""; }, "Unknown BootUnknown: the id of this boot is not known"},
      {[](RailNode& n) { n.boot = "x) (boot y"; }, "Unknown BootUnknown: the id of this boot is not known"},
      {[](RailNode& n) {
         n.wanted->front().pf_name = "e\x1bn";
         n.facts.nics[0].num_vfs = 0;
       },
       "False VfsMissing: rail 0 (e\\x1bn, 0000:01:00.0): 0 of 8 VFs exist"},
      {[](RailNode& n) { n.facts.nics.pop_back(); },
       "False PortMissing: rail 1 (ens1, 0000:02:00.0): no such NIC on this machine"},
      {[](RailNode& n) { n.facts.nics[0].num_vfs = 3; },
       "False VfsMissing: rail 0 (ens0, 0000:01:00.0): 3 of 8 VFs exist"},
      {[](RailNode& n) { n.facts.nics[1].rdma[0].ports[0].state = "DOWN"; },
       "False LinkDown: rail 1 (ens1, 0000:02:00.0): the link is down"},
      {[](RailNode& n) { n.facts.nics[1].rdma[0].ports[0].state = "INIT"; },
       "False LinkDown: rail 1 (ens1, 0000:02:00.0): the port is INIT, not ACTIVE: no subnet manager has set it up"},
      {[](RailNode& n) {
         n.facts.nics[0].rdma.clear();
         n.facts.nics[0].netdevs.emplace_back().carrier = false;
       },
       "False LinkDown: rail 0 (ens0, 0000:01:00.0): the link is down"},
      {[](RailNode& n) { n.facts.nics[0].rdma[0].ports[0].rate_gbps = 100; },
       "False LinkSlow: rail 0 (ens0, 0000:01:00.0): the link has 100 of 400 Gb/s"},
      {[](RailNode& n) { n.facts.nics[0].rdma[0].ports[0].rate_gbps.reset(); },
       "True RailsAsOrdered: 2 rails are as ordered"},
      {[](RailNode& n) { n.offered["x/rail1"][0].pf = testing::pf(0); },
       "False NotOffered: rail 1 (ens1, 0000:02:00.0): no healthy VF is on offer as x/rail1"},
      {[](RailNode& n) { n.offered["x/rail1"][0].healthy = false; },
       "False NotOffered: rail 1 (ens1, 0000:02:00.0): no healthy VF is on offer as x/rail1"},
      {[](RailNode& n) { n.offered.clear(); },
       "False NotOffered: rail 0 (ens0, 0000:01:00.0): no healthy VF is on offer as x/rail0; 1 more of 2 rails"},
  };
  for (const Case& one : cases) {
    RailNode node;
    one.change(node);
    EXPECT_EQ(in_words(node.condition()), one.expected);
  }
}

TEST(RailsReady, RemembersWithinABootThatTheyWereReady) {
  RailNode node;
  node.before = node.condition();
  EXPECT_TRUE(node.before->was_ready);
  node.facts.nics[0].rdma[0].ports[0].state = "DOWN";
  EXPECT_TRUE(node.condition().was_ready);
  node.boot = kFormerBoot;
  EXPECT_FALSE(node.condition().was_ready) << "of another boot";
}

doc::Value node_with(const RailsCondition& condition, const doc::Value& before, std::string_view now) {
  doc::Value conditions = doc::Value::array();
  doc::Value ready = doc::Value::object();
  ready.set("type", "Ready");
  ready.set("status", "True");
  conditions.push(std::move(ready));
  conditions.push(condition_object(condition, before, now));
  doc::Value status = doc::Value::object();
  status.set("conditions", std::move(conditions));
  doc::Value node = doc::Value::object();
  node.set("status", std::move(status));
  return node;
}

TEST(RailsCondition, IsWrittenWithItsBootAndReadAgain) {
  RailNode node;
  const RailsCondition ready = node.condition();
  const doc::Value stored = condition_object(ready, doc::Value(), "T1");
  EXPECT_EQ(doc::to_json(stored), R"j({"type":"railbed.dev/RailsReady","status":"True","reason":"RailsAsOrdered",)j"
                                  R"j("message":"2 rails are as ordered (boot 7c9e6679-7425-40de-944b-e07fc1f90ae7)",)j"
                                  R"j("lastHeartbeatTime":"T1","lastTransitionTime":"T1"})j");
  EXPECT_EQ(rails_condition(node_with(ready, doc::Value(), "T1")), ready);
  node.before = ready;
  node.facts.nics[0].num_vfs = 0;
  const RailsCondition lost = node.condition();
  EXPECT_EQ(doc::to_json(condition_object(lost, stored, "T2")),
            R"j({"type":"railbed.dev/RailsReady","status":"False","reason":"VfsMissing","message":"rail 0 (ens0, )j"
            R"j(0000:01:00.0): 0 of 8 VFs exist (boot 7c9e6679-7425-40de-944b-e07fc1f90ae7, ready before)",)j"
            R"j("lastHeartbeatTime":"T2","lastTransitionTime":"T2"})j");
  EXPECT_EQ(rails_condition(node_with(lost, stored, "T2")), lost);
  EXPECT_EQ(*condition_object(ready, stored, "T3").find("lastTransitionTime")->as_string(), "T1");
  EXPECT_EQ(rails_condition(doc::Value::object()), std::nullopt);
}

TEST(RailsCondition, AMessageOfAnotherWriterHasNoBoot) {
  for (const char* message : {"", "(boot )", " (boot x y)", " (boot 7c9e", "ready (boot 7c9e) maybe"}) {
    doc::Value one = doc::Value::object();
    one.set("type", kRailsReadyCondition);
    one.set("status", "True");
    one.set("message", message);
    doc::Value node = node_with({}, doc::Value(), "T1");
    *node.find("status")->find("conditions") = doc::Value(doc::Value::Array{one});
    const std::optional<RailsCondition> read = rails_condition(node);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->boot, "") << message;
    EXPECT_EQ(read->message, message);
  }
}

RailsCondition of_boot(RailsStatus status, std::string boot, bool was_ready = false) {
  return {.status = status, .reason = "Why", .message = "because", .boot = std::move(boot), .was_ready = was_ready};
}

TEST(StartTaint, GoesOnlyWithTheConditionOfThisBoot) {
  const RailsCondition ready = of_boot(RailsStatus::kTrue, kBoot, true);
  const RailsCondition waits = of_boot(RailsStatus::kFalse, kBoot);
  const RailsCondition lost = of_boot(RailsStatus::kFalse, kBoot, true);
  const RailsCondition former = of_boot(RailsStatus::kTrue, kFormerBoot, true);
  constexpr const char* kSilent = "the agent of this node has not reported its rails in this boot";
  constexpr const char* kNotYet = "the rails were not ready in this boot yet";
  struct Case {
    const char* what;
    TaintView view;
    TaintDecision expected;
  };
  const Case cases[] = {
      {"present, ready", {true, true, kBoot, ready}, {TaintStep::kRemove, "because"}},
      {"present, ready, no longer asked for", {false, true, kBoot, ready}, {TaintStep::kRemove, "because"}},
      {"present, not ready", {true, true, kBoot, waits}, {TaintStep::kNothing, "Why: because"}},
      {"present, ready before the boot", {true, true, kBoot, former}, {TaintStep::kNothing, kSilent}},
      {"present, no condition", {true, true, kBoot, {}}, {TaintStep::kNothing, kSilent}},
      {"present, the node's boot is unknown", {true, true, "", ready}, {TaintStep::kNothing, kSilent}},
      {"absent, ready", {true, false, kBoot, ready}, {TaintStep::kNothing, "the rails were ready in this boot"}},
      {"absent, lost since", {true, false, kBoot, lost}, {TaintStep::kNothing, "the rails were ready in this boot"}},
      {"absent after a restart", {true, false, kBoot, former}, {TaintStep::kAdd, kNotYet}},
      {"absent, not ready yet", {true, false, kBoot, waits}, {TaintStep::kAdd, kNotYet}},
      {"absent, no condition", {true, false, kBoot, {}}, {TaintStep::kAdd, kNotYet}},
      {"absent, the node's boot is unknown",
       {true, false, "", former},
       {TaintStep::kNothing, "the kubelet has not reported the id of this boot"}},
      {"not asked for", {false, false, kBoot, waits}, {TaintStep::kNothing, "no start taint is asked for"}},
  };
  for (const Case& one : cases) {
    const TaintDecision decided = start_taint(one.view);
    EXPECT_EQ(decided.why, one.expected.why) << one.what;
    EXPECT_TRUE(decided.step == one.expected.step) << one.what;
  }
}

doc::Value node_of(const char* json) {
  doc::Diagnostics diagnostics;
  const auto source = std::make_shared<const doc::Source>(doc::Source{.name = "node", .text = json});
  return doc::parse_json(source, diagnostics).value_or(doc::Value());
}

TEST(TaintPatch, ChangesTheStartTaintAndNoOther) {
  constexpr const char* kBoth =
      R"({"metadata":{"resourceVersion":"7"},"spec":{"taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"},)"
      R"({"key":"railbed.dev/rails-not-ready","effect":"NoSchedule"}]}})";
  constexpr const char* kOther =
      R"({"metadata":{"resourceVersion":"7"},"spec":{"taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"}]}})";
  const auto patched = [](const char* node, TaintStep step) {
    const std::optional<doc::Value> patch = taint_patch(node_of(node), step);
    return patch ? doc::to_json(*patch) : "nothing";
  };
  EXPECT_EQ(patched(kOther, TaintStep::kAdd), kBoth);
  EXPECT_EQ(patched(kBoth, TaintStep::kRemove), kOther);
  EXPECT_EQ(patched(kBoth, TaintStep::kAdd), "nothing");
  EXPECT_EQ(patched(kOther, TaintStep::kRemove), "nothing");
  EXPECT_EQ(patched(kBoth, TaintStep::kNothing), "nothing");
  constexpr const char* kOfAnotherEffect =
      R"({"metadata":{"resourceVersion":"7"},"spec":{"taints":[{"key":"railbed.dev/rails-not-ready","effect":"NoExecute"}]}})";
  EXPECT_EQ(patched(kOfAnotherEffect, TaintStep::kRemove), "nothing") << "an administrator's";
  EXPECT_EQ(patched(R"({"metadata":{"resourceVersion":"7"}})", TaintStep::kRemove), "nothing");
}

// Whatever another writer has put there, it is read without a boot that it does not name.
RC_GTEST_PROP(RailsCondition, AnyMessageIsRead, ()) {
  const std::string part = *rc::gen::element<std::string>("", " (boot ", ")", ", ready before", kBoot, "x", "\xff");
  const std::string message = part + *rc::gen::arbitrary<std::string>() +
                              *rc::gen::element<std::string>("", " (boot ", std::string(" (boot ") + kBoot + ")", ")");
  doc::Value one = doc::Value::object();
  one.set("type", kRailsReadyCondition);
  one.set("message", message);
  doc::Value node = node_with({}, doc::Value(), "T1");
  *node.find("status")->find("conditions") = doc::Value(doc::Value::Array{one});
  const std::optional<RailsCondition> read = rails_condition(node);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->boot.empty() == (read->message == message));
  RC_ASSERT(read->boot.empty() || message.ends_with(")"));
}

// All nodes of a cluster start at once, in any order, with the conditions of the boot before. VFs come late. Each node
// loses its taint once its own rails are as ordered, and none before; no node waits for another.
RC_GTEST_PROP(StartTaint, AColdStartOfAllNodesEnds, ()) {
  struct Starting {
    RailNode rails;
    doc::Value object = doc::Value::object();
    int vfs_come = 0;
    bool tainted = true;
  };
  std::vector<Starting> nodes(static_cast<size_t>(*rc::gen::inRange(1, 8)));
  for (Starting& node : nodes) {
    node.vfs_come = *rc::gen::inRange(0, 5);
    node.tainted = *rc::gen::arbitrary<bool>();  // a kubelet registers its node with it the first time only
    node.object = node_with(of_boot(RailsStatus::kTrue, kFormerBoot, true), doc::Value(), "T0");
  }
  for (int round = 0; round < 7; ++round)
    for (Starting& node : nodes) {
      const auto reconcile = [&] {
        const TaintDecision decided = start_taint(
            {.is_asked = true, .is_present = node.tainted, .boot = kBoot, .condition = rails_condition(node.object)});
        if (decided.step == TaintStep::kRemove) RC_ASSERT(round >= node.vfs_come);
        if (decided.step == TaintStep::kAdd) node.tainted = true;
        if (decided.step == TaintStep::kRemove) node.tainted = false;
      };
      if (round == 0 || *rc::gen::arbitrary<bool>()) reconcile();
      for (facts::Nic& nic : node.rails.facts.nics) nic.num_vfs = round >= node.vfs_come ? 8 : 0;
      node.rails.before = rails_condition(node.object);
      node.object = node_with(node.rails.condition(), doc::Value(), "T1");
      if (round < node.vfs_come) RC_ASSERT(node.tainted);
      if (round == 6) reconcile();
    }
  for (const Starting& node : nodes) RC_ASSERT(!node.tainted);
}

}  // namespace
}  // namespace railbed::labels
