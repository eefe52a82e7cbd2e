// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_samples.h"

#include <chrono>
#include <sstream>

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

// The page without its comments.
std::string page(const NodeStatesCounters& counters) {
  Metrics metrics;
  metrics.samples([&] { return node_samples(counters); });
  std::string out;
  std::istringstream lines(metrics.text());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("railbed_node_")) out += line + "\n";
  return out;
}

TEST(NodeReadings, AreZeroBeforeAnythingHappened) {
  EXPECT_EQ(page({}),
            "railbed_node_passes_total 0\n"
            "railbed_node_steps_total{result=\"done\"} 0\n"
            "railbed_node_steps_total{result=\"failed\"} 0\n"
            "railbed_node_held_back 0\n"
            "railbed_node_aside 0\n"
            "railbed_node_synced_timestamp_seconds 0\n"
            "railbed_node_status_writes_total{result=\"written\"} 0\n"
            "railbed_node_status_writes_total{result=\"failed\"} 0\n"
            "railbed_node_silent_seconds -1\n");
}

TEST(NodeReadings, ReportEachCounter) {
  NodeStatesCounters counters;
  counters.node = {.passes = 7, .ended = 6, .steps = 5, .failures = 4, .held_back = 3, .aside = true, .synced = {}};
  counters.node.synced = kube::WallTime(std::chrono::seconds(1000));
  counters.status = {.written = 2, .failed = 1, .error = ""};
  counters.silent = std::chrono::milliseconds(2500);
  EXPECT_EQ(page(counters),
            "railbed_node_passes_total 7\n"
            "railbed_node_steps_total{result=\"done\"} 5\n"
            "railbed_node_steps_total{result=\"failed\"} 4\n"
            "railbed_node_held_back 3\n"
            "railbed_node_aside 1\n"
            "railbed_node_synced_timestamp_seconds 1000\n"
            "railbed_node_status_writes_total{result=\"written\"} 2\n"
            "railbed_node_status_writes_total{result=\"failed\"} 1\n"
            "railbed_node_silent_seconds 2.5\n");
}

}  // namespace
}  // namespace railbed::agent
