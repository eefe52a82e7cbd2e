// SPDX-License-Identifier: Apache-2.0
// `railbed perf bw` and `perf lat`: runs one test against a server.
//
// Threading: any one thread. Failure: what went wrong, on which side; a partial sweep is not returned.
#pragma once

#include <functional>
#include <string>

#include "perf/measurement.h"
#include "perf/rdma_place.h"
#include "perf/watch.h"

namespace railbed::perf {

struct ClientOptions {
  std::string host;  // address or name of the server
  uint16_t port = 18600;
  PlaceRequest place;
  Limits limits;
  std::string label;
  std::string command;
  std::function<void(const std::string& line)> on_progress;  // once per size
};

Result<Measurement> measure(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec);

}  // namespace railbed::perf
