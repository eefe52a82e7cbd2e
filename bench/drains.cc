// SPDX-License-Identifier: Apache-2.0
// One change of 1,000 simulated nodes in 10 pools: waves, evictions, calls to the API server per node, and jobs that
// are interrupted, each once. Next to it the rule of the SR-IOV operator in the same cluster: every pod with a resource
// of the prefix, node by node. The simulator is that of the tests; its time is not the cluster's.
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "drain/preview.h"
#include "drain/test_simulator.h"

namespace railbed {
namespace {

using drain::testing::SimNode;
using drain::testing::SimPool;
using drain::testing::Simulator;

constexpr size_t kPools = 10;
constexpr size_t kNodes = 100;
constexpr size_t kJobNodes = 16;
constexpr int kPercent = 10;

struct Counts {
  int evictions = 0;
  int interruptions = 0;  // of jobs
  int most = 0;           // of one job
};

// A job's pods restart wherever VFs are free, also on nodes that will change: only the nodes of the wave are cordoned.
class UpstreamRule {
 public:
  explicit UpstreamRule(const Simulator& cluster) {
    for (const SimPool& pool : cluster.pools) {
      first_.push_back(nodes_.size());
      for (const SimNode& node : pool.nodes) {
        nodes_.push_back({static_cast<size_t>(node.capacity), {}});
        for (const drain::DrainPod& pod : node.pods)
          if (pod.requests.begin()->starts_with("openshift.io/"))
            nodes_.back().pods.push_back(pod.name.substr(0, pod.name.rfind('-')));
      }
    }
    first_.push_back(nodes_.size());
  }

  Counts run(size_t at_once) {
    for (size_t step = 0; step * at_once < kNodes; ++step) {
      std::set<size_t> cordoned;
      for (size_t pool = 0; pool + 1 < first_.size(); ++pool)
        for (size_t i = 0; i < at_once; ++i)
          if (const size_t node = first_[pool] + step * at_once + i; node < first_[pool + 1]) cordoned.insert(node);
      std::set<std::string> interrupted;
      for (const size_t node : cordoned) {
        for (std::string& pod : nodes_[node].pods) {
          ++counts_.evictions;
          if (pod.starts_with("job")) interrupted.insert(pod);
          pending_.push_back(std::move(pod));
        }
        nodes_[node].pods.clear();
      }
      for (const std::string& job : interrupted) counts_.most = std::max(counts_.most, ++of_job_[job]);
      counts_.interruptions += static_cast<int>(interrupted.size());
      schedule(cordoned);
      schedule({});  // the wave is uncordoned
    }
    return counts_;
  }

 private:
  struct Node {
    size_t capacity;
    std::vector<std::string> pods;
  };

  void schedule(const std::set<size_t>& cordoned) {
    size_t node = 0;
    while (!pending_.empty() && node < nodes_.size()) {
      if (cordoned.contains(node) || nodes_[node].pods.size() >= nodes_[node].capacity) {
        ++node;
        continue;
      }
      nodes_[node].pods.push_back(std::move(pending_.back()));
      pending_.pop_back();
      node = (node + 1) % nodes_.size();
      if (nodes_[node].pods.size() >= nodes_[node].capacity) ++node;
    }
  }

  std::vector<size_t> first_;  // of each pool
  std::vector<Node> nodes_;
  std::vector<std::string> pending_;
  std::map<std::string, int> of_job_;
  Counts counts_;
};

Counts counts_of(const Simulator& cluster) {
  Counts out{.evictions = cluster.evictions};
  for (const auto& [name, workload] : cluster.workloads) {
    out.interruptions += workload.interruptions;
    out.most = std::max(out.most, workload.interruptions);
  }
  return out;
}

int run() {
  Simulator cluster = drain::testing::big_cluster(kPools, kNodes, kJobNodes, {.percent = kPercent});
  const auto jobs = std::ranges::count_if(cluster.workloads, [](const auto& one) { return one.second.together; });
  const Counts upstream = UpstreamRule(cluster).run(kNodes * kPercent / 100);
  const drain::Preview announced = drain::preview(cluster.view(), cluster.now, std::chrono::minutes(3));
  const auto begin = std::chrono::steady_clock::now();
  const bool is_done = cluster.run(1000);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const Counts ours = counts_of(cluster);
  const double calls = static_cast<double>(cluster.stores + cluster.evictions) / (kPools * kNodes);
  const bool is_right = is_done && cluster.violations.empty();

  fmt::print("{} jobs on {} nodes in {} pools, {} % of a pool at a time\n", jobs, kPools * kNodes, kPools, kPercent);
  fmt::print("{:<22} {:>9} {:>13} {:>16}\n", "", "evictions", "interruptions", "most of one job");
  fmt::print("{:<22} {:>9} {:>13} {:>16}\n", "railbed", ours.evictions, ours.interruptions, ours.most);
  fmt::print("{:<22} {:>9} {:>13} {:>16}\n", "the prefix, by node", upstream.evictions, upstream.interruptions,
             upstream.most);
  fmt::print("announced: {}\n", drain::to_text(announced, 3));
  for (const std::string& violation : cluster.violations) fmt::print("{}\n", violation);
  const auto verdict = [&](bool right) { return right && is_right ? "ok" : "short"; };
  const bool is_once = ours.most == 1 && ours.interruptions == jobs;
  fmt::print("figure drains_waves {} - - {}\n", announced.waves, verdict(true));
  fmt::print("figure drains_evictions {} - - {}\n", ours.evictions, verdict(true));
  fmt::print("figure drains_evictions_by_prefix {} - - {}\n", upstream.evictions, verdict(true));
  fmt::print("figure drains_interruptions_of_a_job {} - <=1 {}\n", ours.most, verdict(is_once));
  fmt::print("figure drains_interruptions_of_a_job_by_prefix {} - - {}\n", upstream.most, verdict(true));
  fmt::print("figure drains_calls_per_node {:.1f} - <=12 {}\n", calls, verdict(calls <= 12));
  fmt::print("figure drains_simulation {:.2f} s <=1 {}\n", took.count(), verdict(took.count() <= 1));
  return is_right && is_once && calls <= 12 && took.count() <= 1 ? 0 : 1;
}

}  // namespace
}  // namespace railbed

int main() {
  return railbed::run();
}
