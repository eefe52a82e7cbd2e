// SPDX-License-Identifier: Apache-2.0
// `railbed perf ping`: is there a path for RDMA to this address, does it carry data undamaged, and how fast?
//
// Threading: any one thread.
// Failure: a sentence for the phase that failed; if some pings were complete before, it is in the report (ended_by) and
// next to it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "perf/channel/watch.h"
#include "perf/ping/ping_report.h"

namespace railbed::os {
class Kernel;
}

namespace railbed::perf {

struct PingOptions {
  std::string host;  // address or name of the peer
  uint16_t port = 0;
  PingPeer speaks = PingPeer::kRailbed;
  int64_t size_bytes = 64;
  int64_t count = 100;
  std::chrono::milliseconds interval{0};  // from the start of a ping to that of the next
  Limits limits;
  std::string token;
  std::string command;
  std::function<void(const std::string& line)> on_progress;
  std::stop_token stop;
};

struct PingOutcome {
  PingReport report;
  std::optional<Error> error;  // what ended it early
};

Result<PingOutcome> run_ping(os::Kernel& kernel, const PingOptions& options);

}  // namespace railbed::perf
