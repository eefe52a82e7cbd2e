// SPDX-License-Identifier: Apache-2.0
// What a plan for a cluster costs: 100 nodes of 8 PFs × 126 VFs, 50 policies, from objects and facts in memory to 100
// plans. Two cases: all VFs have to be made (300,000 steps), and nothing is to be done (the common one; every existing
// VF is looked at). The figure is the slower one over reading the facts of the same nodes and VFs from their text,
// which comes before any plan: a ratio, because both sides feel the machine and its load. The smallest of several runs
// of each, in turn.
#include "plan/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "doc/json.h"
#include "facts/facts_json.h"
#include "graph/examples.h"

namespace railbed {
namespace {

using namespace graph::examples;

constexpr int kNodes = 100;
constexpr int kPfs = 8;
constexpr int kVfs = 126;
constexpr int kRuns = 7;
constexpr double kBoundToParsing = 0.25;

// 48 policies that give each group of nodes its rails, one for all nodes that is shadowed, one without a match.
api::Objects policies() {
  api::Objects objects;
  for (int group = 0; group < 6; ++group)
    for (int rail = 0; rail < kPfs; ++rail) {
      auto one = policy(fmt::format("group{}-rail{}", group, rail), kVfs, {pf(fmt::format("eth{}", rail))}, 10);
      one.node_selector = {{"group", std::to_string(group)}};
      one.mtu = api::given(9000);
      one.is_rdma = api::given(true);
      objects.policies.push_back(std::move(one));
    }
  objects.policies.push_back(policy("everywhere", kVfs, {pf("eth0"), pf("eth1")}, 50));
  auto nowhere = policy("nowhere", kVfs, {}, 1);
  nowhere.nic_selector.vendor = api::given(std::string("14e4"));
  objects.policies.push_back(std::move(nowhere));
  return objects;
}

std::vector<facts::NodeFacts> nodes(bool with_all_vfs) {
  std::vector<facts::NodeFacts> made;
  for (int number = 0; number < kNodes; ++number) {
    std::vector<facts::Nic> nics;
    for (int rail = 0; rail < kPfs; ++rail) {
      facts::Nic one = nic(fmt::format("eth{}", rail), 16 * rail + 1, 128, "15b3", "1021");
      one.rdma.push_back({.name = fmt::format("mlx5_{}", rail), .driver = "mlx5"});
      if (with_all_vfs) {
        one.netdevs.front().mtu = 9000;
        one = with_vfs(std::move(one), kVfs);
        for (facts::Vf& vf : one.vfs) vf.netdev->mtu = 9000;
      }
      nics.push_back(std::move(one));
    }
    made.push_back(node(fmt::format("node{}", number), std::move(nics)));
    made.back().labels["group"] = std::to_string(number % 6);
  }
  return made;
}

struct Outcome {
  double ms = 0;
  size_t steps = 0;
};

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Outcome plan_all(const api::Objects& objects, const std::vector<facts::NodeFacts>& cluster) {
  const auto begin = std::chrono::steady_clock::now();
  doc::Diagnostics diagnostics;
  const graph::Resolution resolution(objects, cluster, {}, graph::PodPlacement::kChecked, diagnostics);
  const std::vector<plan::NodePlan> plans = plan::make_plans(resolution, {}, {}, diagnostics);
  Outcome outcome{.ms = ms_since(begin)};
  for (const plan::NodePlan& made : plans)
    for (const plan::PfPlan& pf_plan : made.pfs) outcome.steps += pf_plan.steps.size();
  return outcome;
}

void expect(const char* what, size_t found, size_t expected) {
  if (found == expected) return;
  fmt::print(stderr, "{}: {}, not {}: the benchmark does not measure what it says\n", what, found, expected);
  std::exit(1);
}

double parse_ms(const std::vector<doc::SourcePtr>& texts) {
  const auto begin = std::chrono::steady_clock::now();
  doc::Diagnostics diagnostics;
  size_t read = 0;
  for (const doc::SourcePtr& text : texts) read += facts::parse_facts(text, diagnostics).size();
  const double ms = ms_since(begin);
  expect("nodes in the texts", read, kNodes);
  return ms;
}

int run() {
  const api::Objects objects = policies();
  const auto empty = nodes(false);
  const auto full = nodes(true);
  std::vector<doc::SourcePtr> texts;  // one for each node, so that one thread reads it, as one thread plans
  size_t bytes = 0;
  for (const facts::NodeFacts& one : full) {
    texts.push_back(std::make_shared<const doc::Source>(doc::Source{"facts.json", doc::to_json(to_value(one))}));
    bytes += texts.back()->text.size();
  }
  double all_ms = 1e9, none_ms = 1e9, parsing_ms = 1e9;
  for (int turn = 0; turn < kRuns; ++turn) {
    const Outcome all = plan_all(objects, empty);
    // Per PF: autoprobe off, MTU, VFs, autoprobe on; per VF: MAC, bind, MTU.
    expect("steps where all VFs are made", all.steps, size_t{kNodes} * kPfs * (4 + 3 * kVfs));
    const Outcome none = plan_all(objects, full);
    expect("steps where nothing is to be done", none.steps, 0);
    all_ms = std::min(all_ms, all.ms);
    none_ms = std::min(none_ms, none.ms);
    parsing_ms = std::min(parsing_ms, parse_ms(texts));
  }
  const double figure = std::max(all_ms, none_ms) / parsing_ms;
  fmt::print("all VFs are made {:.1f} ms, nothing to do {:.1f} ms, reading {} MiB of facts {:.1f} ms\n", all_ms,
             none_ms, bytes >> 20, parsing_ms);
  fmt::print("figure plan_100x50_to_parsing {:.2f} ratio <={:g} {}\n", figure, kBoundToParsing,
             figure <= kBoundToParsing ? "ok" : "short");
  return figure <= kBoundToParsing ? 0 : 1;
}

}  // namespace
}  // namespace railbed

int main() {
  return railbed::run();
}
