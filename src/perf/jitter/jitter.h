// SPDX-License-Identifier: Apache-2.0
// `railbed perf jitter`: probes at a steady rate against a server, alternately idle and under load.
//
// Threading: any one thread; the load has its own thread while it runs.
// Failure: as the links. Rounds that were complete before are in the report.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "perf/channel/watch.h"
#include "perf/jitter/jitter_report.h"
#include "perf/stream/rdma_place.h"

namespace railbed::perf {

inline constexpr int64_t kMostProbes = 1'000'000;  // of a round, all of which are kept

struct JitterOptions {
  std::string host;
  uint16_t port = 18600;
  PlaceRequest place;
  std::string remote_device;
  int64_t size_bytes = 8;
  int64_t rate_per_s = 1000;
  int64_t duration_ms = 10'000;  // of a round
  int64_t repeats = kFewestRepeats;
  bool with_load = true;
  int64_t load_size_bytes = 65536;
  int64_t load_qps = 1;
  Limits limits;
  std::string label;
  std::string command;
  std::string token;
  std::function<void(const std::string& line)> on_progress;
  std::stop_token stop;
};

struct JitterOutcome {
  JitterReport report;
  std::optional<Error> error;  // what ended it early
};

Result<JitterOutcome> measure_jitter(os::Kernel& kernel, const JitterOptions& options);

}  // namespace railbed::perf
