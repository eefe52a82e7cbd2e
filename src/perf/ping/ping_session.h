// SPDX-License-Identifier: Apache-2.0
// The peers of a ping: `railbed perf serve` for railbed's own, and a listener for an unmodified rping.
//
// Why: for railbed the server is the source, so that the client, which measures, does READs and WRITEs itself and has
// their pure times. For rping it is the other way round, as its protocol requires.
// Threading: one thread per call.
// Failure: as the connection; a peer's error ends only its own connection.
#pragma once

#include <functional>
#include <stop_token>

#include "perf/channel/watch.h"
#include "perf/ping/ping_report.h"
#include "perf/session/session.h"

namespace railbed::perf {

// The private data of a request, by which the server knows it.
std::vector<uint8_t> private_data_of(uint64_t cookie);

// A ping of a session, from OpenPing (ping_message.h) to CloseTest.
Protocol ping_protocol();

struct RpingServerOptions {
  IpAddress bind;  // an address of an interface with an RDMA device
  uint16_t port = kRpingPort;
  bool once = false;
  Limits limits;
  std::stop_token stop;
  std::function<void(uint16_t port)> on_ready;
  std::function<void(const std::string& line)> on_event;
  std::function<void(const PingReport& report)> on_report;  // one per client
};
// Answers `rping -c`, one client at a time, until it is stopped.
Result<void> serve_rping(const TickClock& clock, const RpingServerOptions& options);

}  // namespace railbed::perf
