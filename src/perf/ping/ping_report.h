// SPDX-License-Identifier: Apache-2.0
// The results of a ping: the time of each phase of its connection, and of messages, READs and WRITEs.
//
// Schema: docs/schemas/Ping.json, explained in docs/ping.md.
// Threading: plain values.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "perf/histogram.h"
#include "perf/ping/exchange.h"
#include "perf/result_envelope.h"

namespace railbed::perf {

enum class PingPeer : uint8_t { kRailbed, kRping };
std::string_view name_of(PingPeer peer);

struct PingReport {
  std::string version;     // of the railbed that pinged
  std::string started_at;  // UTC, ISO 8601
  std::string command;     // as typed by the user
  std::string peer;        // as given
  PingPeer speaks = PingPeer::kRailbed;
  PingRole role = PingRole::kMover;  // this end's
  std::string local_address;
  std::string peer_address;
  std::string device;
  int64_t device_port = 0;
  bool soft = false;
  int64_t size_bytes = 0;  // rping's, where that chooses
  int64_t pings = 0;
  OpeningTimes opening;
  Histogram message;  // of a mover
  Histogram read;
  Histogram write;
  std::string ended_by;  // why pings are missing; "": none is

  void add(const PingTimes& times);
};

// A report with what the connection says.
PingReport report_of(PingConnection& connection, PingRole role);

inline constexpr ResultName kPingName{"Ping", "railbed.ping/v1"};
std::string to_json(const PingReport& report);
std::string to_table(const PingReport& report);

}  // namespace railbed::perf
