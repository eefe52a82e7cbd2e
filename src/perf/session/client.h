// SPDX-License-Identifier: Apache-2.0
// `railbed perf bw` and `perf lat`: runs one test against a server.
//
// Threading: any one thread.
// Failure: the error, and on which side it occurred. Results before it have been passed to `on_size`.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/ip.h"
#include "perf/channel/watch.h"
#include "perf/measurement.h"
#include "perf/stream/rdma_place.h"

namespace railbed::perf {

class Channel;
struct RdmaAddress;

struct ClientOptions {
  std::string host;  // address or name of the server
  uint16_t port = 18600;
  std::optional<IpAddress> from;  // an address of this machine; absent: the one that routes say
  PlaceRequest place;
  Limits limits;
  std::string label;
  std::string command;
  std::string token;  // of the server; "": none
  // After the greeting, and before anything is sent to the address that the server offers for RDMA: whether this is
  // the server that is meant. Empty: any is.
  std::function<Result<void>(Channel& channel)> check_server;
  std::function<Result<void>(const RdmaAddress& offered, bool is_infiniband)> check_offer;
  std::function<void(const std::string& line)> on_progress;  // once per size, and while it waits for its turn
  std::function<void(const std::string& line)> on_notice;    // with perftest: what a person has to know at once
  // After each size, with all that is measured so far. A failure ends the test.
  std::function<Result<void>(const Measurement& so_far)> on_size;
  LiveFigures* live = nullptr;  // how far a size is, for a person; null: no one looks
  std::stop_token stop;
};

Result<Measurement> measure(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec);

}  // namespace railbed::perf
