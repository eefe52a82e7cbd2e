// SPDX-License-Identifier: Apache-2.0
#include "drain/waves.h"

#include <gtest/gtest.h>

#include "drain/maintenance.h"
#include "drain/preview.h"

namespace railbed::drain {
namespace {

const Time kNow{std::chrono::seconds(1'772'360'430)};  // 2026-03-01T10:20:30Z

AffectedPod pod_in(const std::string& unit, const std::string& spread = "", PodClass kind = PodClass::kEvicted) {
  return {.ns = "ai", .name = unit, .uid = unit, .kind = kind, .reason = "cannot", .unit = unit, .spread = spread};
}

NodeView waiting(const std::string& name, std::vector<AffectedPod> pods = {}, int since = 0) {
  return {.name = name,
          .change = "c",
          .resources = {"r"},
          .wanted_since = Time(std::chrono::seconds(since)),
          .pods = std::move(pods)};
}

NodeView at_phase(NodeView node, Phase phase, bool slot = true) {
  node.state = {.phase = phase, .change = "c", .resources = {"r"}, .slot = slot, .since = kNow, .started = kNow};
  return node;
}

// "n1 go", "n2 withdraw[Job ai/a]: reason", by node.
std::string shown_turns(const std::vector<PoolView>& pools, Time now = kNow) {
  constexpr const char* kKinds[] = {"none", "wait", "withdraw", "change", "go"};
  std::string out;
  for (const auto& [name, turn] : waves(pools, now).nodes) {
    out += fmt::format("{}{} {}", out.empty() ? "" : "\n", name, kKinds[static_cast<size_t>(turn.kind)]);
    if (!turn.units.empty()) out += fmt::format("[{}]", fmt::join(turn.units, ", "));
    if (!turn.reason.empty()) out += ": " + turn.reason;
  }
  return out;
}

std::string turns_of_pool(std::vector<NodeView> nodes, Bound bound = {.number = 1}) {
  return shown_turns({{.name = "p", .bound = bound, .nodes = std::move(nodes)}});
}

TEST(DrainBound, IsANumberOrAPercentageThatIsNeverZeroByRounding) {
  EXPECT_EQ(nodes_allowed({.number = 3}, 1), 3u);
  EXPECT_EQ(nodes_allowed({.number = 0}, 100), 0u);
  EXPECT_EQ(nodes_allowed({.number = -1}, 100), 0u);
  EXPECT_EQ(nodes_allowed({.percent = 10}, 5), 1u);
  EXPECT_EQ(nodes_allowed({.percent = 10}, 29), 2u);
  EXPECT_EQ(nodes_allowed({.percent = 0}, 100), 0u);
  EXPECT_EQ(nodes_allowed({.percent = 400}, 10), 10u);
  EXPECT_GT(nodes_allowed({}, 10), 1'000'000u);
}

TEST(DrainWaves, AreFirstComeFirstServed) {
  EXPECT_EQ(turns_of_pool({waiting("a", {pod_in("Pod a")}, 3), waiting("b", {pod_in("Pod b")}, 1),
                           waiting("c", {pod_in("Pod c")}, 2)}),
            "a withdraw: waits for a slot of pool p: 1 of 1 in use: b\n"
            "b go\n"
            "c withdraw: waits for a slot of pool p: 1 of 1 in use: b");
}

TEST(DrainWaves, NodesWithoutPodsNeedNoSlot) {
  EXPECT_EQ(turns_of_pool({at_phase(waiting("a"), Phase::kChanging), waiting("b"),
                           waiting("c", {pod_in("Pod c", "", PodClass::kFinished)})}),
            "a none\nb change\nc change");
}

TEST(DrainWaves, ABoundOfZeroStartsNothing) {
  EXPECT_EQ(turns_of_pool({waiting("a", {pod_in("Pod a")}), waiting("b")}, {.number = 0}),
            "a wait: pool p allows no node to be unavailable (maxUnavailable)\nb change");
}

TEST(DrainWaves, NodesThatAreDownOrCordonedByOthersCount) {
  NodeView down = waiting("down", {pod_in("Pod d")}), cordoned;
  down.ready = false;
  down.unavailable_since = kNow;
  cordoned.name = "cordoned";
  cordoned.cordoned = true;
  cordoned.unavailable_since = kNow;
  const std::vector<NodeView> nodes{down, cordoned, waiting("a", {pod_in("Pod a")}), waiting("b")};
  EXPECT_EQ(turns_of_pool(nodes, {.number = 2}),
            "a wait: waits for a slot of pool p: 2 of 2 in use: down (not ready since 2026-03-01T10:20:30Z), cordoned "
            "(cordoned since 2026-03-01T10:20:30Z)\n"
            "b change\ncordoned none\n"
            "down wait: not ready since 2026-03-01T10:20:30Z");
  PoolView pool{.name = "p", .bound = {.number = 1}, .nodes = {nodes[1], nodes[2]}};
  EXPECT_TRUE(waves({pool}, kNow).pools.at("p").blocked);
  pool.ignore_unavailable_after = std::chrono::hours(24);
  EXPECT_TRUE(waves({pool}, kNow + std::chrono::hours(23)).pools.at("p").blocked);
  EXPECT_FALSE(waves({pool}, kNow + std::chrono::hours(24)).pools.at("p").blocked);
}

TEST(DrainWaves, ACordonedNodeUsesTheSlotThatItTakes) {
  NodeView cordoned = waiting("a", {pod_in("Pod a")});
  cordoned.cordoned = true;
  EXPECT_EQ(turns_of_pool({cordoned}), "a go");
}

TEST(DrainWaves, OneSlotRemainsForEmptyNodesThatRestart) {
  NodeView down = waiting("down");
  down.ready = false;
  down.unavailable_since = kNow;
  NodeView first = waiting("a"), second = waiting("b");
  first.needs_restart = second.needs_restart = true;
  EXPECT_EQ(turns_of_pool({down, first, second}),
            "a change\n"
            "b wait: waits for a slot of pool p: 2 of 1 in use: down (not ready since 2026-03-01T10:20:30Z), a\n"
            "down wait: not ready since 2026-03-01T10:20:30Z");
}

TEST(DrainWaves, NodesThatOthersMaintainCountAndAreNamed) {
  NodeView node = waiting("a", {pod_in("Pod a")});
  node.others = {"kured"};
  EXPECT_EQ(turns_of_pool({node, waiting("b", {pod_in("Pod b")})}),
            "a wait: waits for kured, which maintains this node\n"
            "b wait: waits for a slot of pool p: 1 of 1 in use: a (maintained by kured)");
  EXPECT_EQ(other_maintenance({{"nvidia.com/gpu-driver-upgrade-state", "upgrade-done"}},
                              {{"machineconfiguration.openshift.io/state", "Done"}}, {}),
            std::vector<std::string>{});
  EXPECT_EQ(
      other_maintenance({{"skyhook.nvidia.com/status_tuning", "in_progress"}},
                        {{"machineconfiguration.openshift.io/state", "Working"},
                         {"weave.works/kured-reboot-in-progress", "2026-01-01T00:00:00Z"}},
                        {"nvidia-operator-a"}),
      (std::vector<std::string>{"kured", "MachineConfigPool", "nodewright", "NodeMaintenance nvidia-operator-a"}));
}

TEST(DrainWaves, NothingIsEvictedOnANodeThatCannotEnd) {
  EXPECT_EQ(turns_of_pool({waiting("a", {pod_in("Pod a"), pod_in("Pod b", "", PodClass::kBare)}),
                           waiting("b", {pod_in("Pod c", "", PodClass::kMirror)})}),
            "a wait: pod ai/Pod b cannot\nb wait: pod ai/Pod c cannot");
  NodeView held = waiting("a", {pod_in("Pod a")});
  held.held = "no";
  EXPECT_EQ(turns_of_pool({held}), "a wait: no");
}

TEST(DrainWaves, OneUnitOfAnOwnerAtATime) {
  EXPECT_EQ(turns_of_pool({waiting("a", {pod_in("Pod x-0", "StatefulSet ai/x"), pod_in("Pod x-1", "StatefulSet ai/x")}),
                           waiting("b", {pod_in("Pod x-2", "StatefulSet ai/x")}), waiting("c", {pod_in("Pod y")})},
                          {.number = 3}),
            "a go\n"
            "b withdraw: waits for node a, where another pod of StatefulSet ai/x is evicted\n"
            "c go");
  NodeView changing = at_phase(waiting("a"), Phase::kChanging);
  changing.state.spreads = {"StatefulSet ai/x"};
  EXPECT_EQ(turns_of_pool({changing, waiting("b", {pod_in("Pod x-2", "StatefulSet ai/x")})}, {.number = 3}),
            "a none\nb withdraw: waits for node a, where another pod of StatefulSet ai/x is evicted");
}

TEST(DrainWaves, AGroupIsEvictedOnAllItsNodesAtOnce) {
  const auto on = [](const char* name) { return waiting(name, {pod_in("Job ai/j")}); };
  EXPECT_EQ(turns_of_pool({on("a"), on("b"), on("c"), waiting("d", {pod_in("Pod d")})}),
            "a go[Job ai/j]\n"
            "b withdraw[Job ai/j]: waits for a slot of pool p: 1 of 1 in use: a\n"
            "c withdraw[Job ai/j]: waits for a slot of pool p: 1 of 1 in use: a\n"
            "d withdraw: waits for a slot of pool p: 1 of 1 in use: a");
  // Also in other pools, and none changes before all have stored it.
  // An empty node of the group waits for its slot.
  NodeView emptied = at_phase(waiting("b"), Phase::kWithdrawn, false);
  emptied.state.units = {"Job ai/j"};
  EXPECT_EQ(turns_of_pool({at_phase(waiting("a"), Phase::kChanging), emptied}),
            "a none\nb withdraw: waits for a slot of pool p: 1 of 1 in use: a");
  NodeView first = at_phase(on("a"), Phase::kEvicting);
  first.state.units = {"Job ai/j"};
  const Waves turns = waves({{.name = "p", .nodes = {first}}, {.name = "q", .nodes = {on("b")}}}, kNow);
  EXPECT_FALSE(turns.nodes.at("a").may_change);
  NodeView second = at_phase(on("b"), Phase::kWithdrawn, false);
  second.state.units = {"Job ai/j"};
  EXPECT_TRUE(waves({{.name = "p", .nodes = {first, second}}}, kNow).nodes.at("a").may_change);
}

TEST(DrainWaves, NothingIsEvictedWhileAPodCouldRestartOnAnOldNode) {
  NodeView going = at_phase(waiting("a", {pod_in("Pod a")}), Phase::kEvicting);
  going.withdrawn = true;
  NodeView open = waiting("b", {pod_in("Pod b")});
  const auto not_withdrawn = [&](const NodeView& other, Time now = kNow) {
    return waves({{.name = "p", .nodes = {going, other}}}, now).nodes.at("a").not_withdrawn;
  };
  EXPECT_EQ(not_withdrawn(open), "b");
  open.state = {.phase = Phase::kWithdrawn, .since = kNow};
  EXPECT_EQ(not_withdrawn(open), "b");
  EXPECT_EQ(not_withdrawn(open, kNow + std::chrono::seconds(60)), "");
  open.withdrawn = true;
  EXPECT_EQ(not_withdrawn(open), "");
  NodeView down = waiting("b", {pod_in("Pod b")});
  down.ready = false;
  EXPECT_EQ(not_withdrawn(down), "");
  NodeView other = waiting("b", {pod_in("Pod b")});
  other.resources = {"s"};
  EXPECT_EQ(not_withdrawn(other), "");
}

TEST(DrainWaves, GroupsOfOneLeaderWorkerSetTakeTurns) {
  const auto on = [](const char* name, const char* unit) {
    return waiting(name, {pod_in(unit, "LeaderWorkerSet ai/l")});
  };
  EXPECT_EQ(turns_of_pool({on("a", "group 0"), on("b", "group 0"), on("c", "group 1")}, {.number = 3}),
            "a go[group 0]\nb go[group 0]\n"
            "c withdraw: waits for node a, where another pod of LeaderWorkerSet ai/l is evicted");
}

TEST(DrainWaves, WaitingForCompletionTakesNoSlot) {
  PoolView pool{.name = "p", .wait_for_completion = std::chrono::hours(8)};
  pool.nodes = {waiting("a", {pod_in("Job ai/j")}), waiting("b", {pod_in("Pod b")})};
  EXPECT_EQ(shown_turns({pool}), "a withdraw: waits for Job ai/j to complete, until its time limit\nb go");
  pool.nodes[0] = at_phase(pool.nodes[0], Phase::kWithdrawn, false);
  pool.nodes.pop_back();
  EXPECT_EQ(shown_turns({pool}, kNow + std::chrono::hours(7)),
            "a withdraw: waits for Job ai/j to complete, until 2026-03-01T18:20:30Z");
  EXPECT_EQ(shown_turns({pool}, kNow + std::chrono::hours(8)), "a go[Job ai/j]");
}

TEST(DrainWaves, ANodeThatWasGivenUpQueuesAgainLater) {
  const NodeView blocked = at_phase(waiting("a", {pod_in("Pod a")}), Phase::kBlocked, false);
  EXPECT_EQ(turns_of_pool({blocked}), "a none");
  const std::vector<PoolView> pool{{.name = "p", .nodes = {blocked, waiting("b", {pod_in("Pod b")}, 100)}}};
  EXPECT_EQ(shown_turns(pool, kNow + std::chrono::minutes(30)),
            "a withdraw: waits for a slot of pool p: 1 of 1 in use: b\nb go");
}

TEST(DrainPreview, SaysWhichJobsWaitForHowLong) {
  std::vector<NodeView> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(waiting(fmt::format("a{}", i), {pod_in("Job ai/j")}));
  nodes.push_back(waiting("b", {pod_in("Pod ai/web-0", "StatefulSet ai/web")}, 1));
  nodes.push_back(waiting("c"));
  nodes.push_back(waiting("d", {pod_in("Pod ai/x", "", PodClass::kBare)}));
  const std::vector<PoolView> pools{{.name = "p", .bound = {.number = 2}, .nodes = nodes}};
  EXPECT_EQ(to_text(preview(pools, kNow, std::chrono::minutes(10))),
            "1 job and 1 pod are interrupted, 1 of 7 nodes without eviction, in 3 waves: Job ai/j (4 pods, 4 nodes, "
            "wave 1, waits about 20 min), Pod ai/web-0 (1 pod, 1 node, wave 3, waits about 10 min); 1 node cannot "
            "start: d: pod ai/Pod ai/x cannot");
  EXPECT_EQ(to_text(preview({{.name = "p", .nodes = {waiting("c")}}}, kNow, std::chrono::minutes(10))),
            "no pod is interrupted on 1 node");
  EXPECT_EQ(preview({}, kNow, std::chrono::minutes(10)), Preview{});
}

}  // namespace
}  // namespace railbed::drain
