// SPDX-License-Identifier: Apache-2.0
// For tests: results of measurements between two hosts with links of 400 Gb/s.
// Threading: one thread.
// Failure: none.
#pragma once

#include <string>
#include <utility>

#include "perf/measurement.h"

namespace railbed::report {

// One after the other: each starts a minute after the last one.
inline std::string next_start() {
  static int minutes = 0;
  ++minutes;
  return fmt::format("2026-01-02T{:02}:{:02}:05Z", minutes / 60, minutes % 60);
}

// A bandwidth in Gb/s of 64 KiB writes, or a round trip in microseconds, between links of 400 Gb/s.
inline perf::Measurement measured(perf::TestKind kind, perf::Transport transport, std::string label, double figure,
                                  bool soft = false) {
  perf::Measurement m{.started_at = next_start(),
                      .command = "railbed perf",
                      .label = std::move(label),
                      .peer = "10.1.0.6",
                      .spec = {.kind = kind, .transport = transport, .sizes_bytes = {2}}};
  m.client = {.hostname = "gpu-b",
              .address = "10.1.0.5",
              .netdev = "net1",
              .device = transport == perf::Transport::kRdma ? "mlx5_1" : "",
              .link_layer = "Ethernet",
              .path_mtu_bytes = 4096,
              .soft = soft,
              .link = "400 Gb/sec (4X NDR)",
              .link_gbps = 400,
              .pcie = "32 GT/s x16",
              .pcie_gbps = 461};
  m.server = m.client;
  m.server.hostname = "gpu-a";
  m.server.address = "10.1.0.6";
  if (kind == perf::TestKind::kBandwidth) {
    m.bandwidth.push_back({.size_bytes = 65536,
                           .messages = 1,
                           .duration_s = 1,
                           .average_gbps = figure,
                           .series = {},
                           .reverse_average_gbps = {},
                           .reverse_series = {}});
    return m;
  }
  perf::LatencyPoint point{.size_bytes = 2, .duration_s = 1};
  for (int i = 0; i < 10'000; ++i) point.histogram.record(static_cast<uint64_t>(figure * 1000));
  point.slots = {{.at_ms = 0, .min_us = figure, .p50_us = figure, .p99_us = figure, .max_us = figure, .samples = 1000}};
  m.latency.push_back(std::move(point));
  return m;
}

}  // namespace railbed::report
