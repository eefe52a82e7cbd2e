// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_samples.h"

#include <chrono>

namespace railbed::agent {

std::vector<Sample> node_samples(const NodeStatesCounters& now) {
  using enum Sample::Kind;
  std::vector<Sample> out;
  const auto add = [&](std::string_view name, std::string_view help, Sample::Kind kind, double value) {
    out.push_back({.name = name, .help = help, .kind = kind, .labels = {}, .value = value});
  };
  const auto add_results = [&](std::string_view name, std::string_view help, std::string_view good, uint64_t done,
                               uint64_t failed) {
    for (const auto& [result, count] : {std::pair(good, done), std::pair(std::string_view("failed"), failed)})
      out.push_back({.name = name,
                     .help = help,
                     .kind = kCounter,
                     .labels = {{"result", std::string(result)}},
                     .value = static_cast<double>(count)});
  };
  const NodeCounters& node = now.node;
  add("railbed_node_passes_total", "passes over the machine and its node state", kCounter,
      static_cast<double>(node.passes));
  add_results("railbed_node_steps_total", "changes of NICs and VFs for the node state", "done", node.steps,
              node.failures);
  add("railbed_node_held_back", "changes deferred until pods release their VFs", kGauge,
      static_cast<double>(node.held_back));
  add("railbed_node_aside", "1: railbed changes nothing, because the SR-IOV operator manages this node", kGauge,
      node.aside ? 1 : 0);
  const auto synced = node.synced ? node.synced->time_since_epoch() : kube::WallTime::duration{};
  add("railbed_node_synced_timestamp_seconds", "last time the machine was in the desired state; 0: never", kGauge,
      std::chrono::duration<double>(synced).count());
  add_results("railbed_node_status_writes_total", "statuses of the node state: written, and failed attempts", "written",
              now.status.written, now.status.failed);
  add("railbed_node_silent_seconds",
      "seconds since the last update of the node state from the API server; -1: up to date", kGauge,
      now.silent ? std::chrono::duration<double>(*now.silent).count() : -1.0);
  return out;
}

}  // namespace railbed::agent
