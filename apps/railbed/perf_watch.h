// SPDX-License-Identifier: Apache-2.0
// `railbed perf watch`: what RDMA ports count, per interval, until it is stopped.
//
// Threading: the main thread, before any other. Failure: nothing to watch; a full disk ends it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "rdma/port_watch.h"

namespace railbed {

struct WatchRequest {
  std::vector<std::string> ports;
  std::chrono::milliseconds interval{1000};
  int64_t count = 0;  // of intervals; 0: without end
  bool json = false;
};

Result<int> watch_ports(const WatchRequest& request);

// A port and interval as a line of each kind, pure.
std::string watch_heading();
std::string watch_row(const rdma::PortInterval& interval, const std::string& at);
std::string watch_json(const rdma::PortInterval& interval, const std::string& at);

}  // namespace railbed
