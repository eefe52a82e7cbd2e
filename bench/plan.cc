// SPDX-License-Identifier: Apache-2.0
// How long a plan for a cluster takes: 100 nodes of 8 PFs × 126 VFs, 50 policies, from objects and facts in
// memory to 100 plans. Two cases: all VFs have to be made (300,000 steps), and nothing is to be done (the
// common one; every existing VF is looked at). The slower one is the figure; the smallest of several runs,
// because the machine is shared.
#include "plan/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "graph/examples.h"

namespace railbed {
namespace {

using namespace graph::examples;

constexpr int kNodes = 100;
constexpr int kPfs = 8;
constexpr int kVfs = 126;
constexpr int kRuns = 7;
constexpr double kBoundMs = 200;

// 48 policies with a rail for a group of nodes each, one for all nodes that is shadowed, one that matches nothing.
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

Outcome plan_all(const api::Objects& objects, const std::vector<facts::NodeFacts>& cluster) {
  const auto begin = std::chrono::steady_clock::now();
  doc::Diagnostics diagnostics;
  const graph::Catalog catalog = graph::index(objects, {}, diagnostics);
  std::vector<graph::Graph> graphs;
  for (const facts::NodeFacts& one : cluster) graphs.push_back(graph::resolve(catalog, one, diagnostics));
  graph::check_across(graphs, diagnostics);
  Outcome outcome;
  for (const graph::Graph& graph : graphs) {
    const plan::NodePlan made = plan::make_plan(graph, {}, {});
    plan::check_pods(graph, made, diagnostics);
    for (const plan::PfPlan& pf_plan : made.pfs) outcome.steps += pf_plan.steps.size();
  }
  outcome.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

double measure(const char* what, const api::Objects& objects, bool with_all_vfs, size_t expected_steps) {
  const auto cluster = nodes(with_all_vfs);
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const Outcome outcome = plan_all(objects, cluster);
    if (outcome.steps != expected_steps) {
      fmt::print(stderr, "{}: {} steps, not {}: the benchmark does not measure what it says\n", what, outcome.steps,
                 expected_steps);
      std::exit(1);
    }
    best = std::min(best, outcome.ms);
  }
  fmt::print("{}: {} steps, {:.1f} ms\n", what, expected_steps, best);
  return best;
}

int run() {
  const api::Objects objects = policies();
  // Per PF: autoprobe off, MTU, VFs, autoprobe on; per VF: MAC, bind, MTU.
  const double all = measure("all VFs are made", objects, false, size_t{kNodes} * kPfs * (4 + 3 * kVfs));
  const double none = measure("nothing to do", objects, true, 0);
  const double figure = std::max(all, none);
  fmt::print("figure plan_100x50_ms {:.1f} ms <={:.0f} {}\n", figure, kBoundMs, figure <= kBoundMs ? "ok" : "short");
  return figure <= kBoundMs ? 0 : 1;
}

}  // namespace
}  // namespace railbed

int main() {
  return railbed::run();
}
