// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/ping_session.h"

#include <endian.h>

#include "perf/ping/ping_message.h"
#include "perf/ping/rping_wire.h"
#include "perf/stream/tcp_link.h"

namespace railbed::perf {

std::vector<uint8_t> private_data_of(uint64_t cookie) {
  const uint64_t wire = htobe64(cookie);
  const auto* first = reinterpret_cast<const uint8_t*>(&wire);
  return {first, first + sizeof wire};
}

namespace {

Result<void> serve_pings(Channel& channel, const TickClock& clock, const Limits& limits, const OpenPing& wanted) {
  const CmEvents events = TRY(CmEvents::open());
  const IpAddress own = TRY(channel.socket().local_address());
  const CmListener listener = TRY(CmListener::open(events, own, 0));
  const uint64_t cookie = random_cookie();
  TRY(channel.send(PingOffer{.port = listener.port, .cookie = cookie}, limits.after(limits.answer)));
  // The client says good-bye on both ways; which one is faster is open.
  const auto look = [&]() -> Result<void> {
    TRY(channel.interrupted());
    if (channel.has_message()) return fail(Code::kCanceled, "the client finished its pings");
    return {};
  };
  auto accepted = PingConnection::accept(clock, events,
                                         {.peer = {},
                                          .port = listener.port,
                                          .from = {},
                                          .private_data = private_data_of(cookie),
                                          .role = PingRole::kSource,
                                          .patience = limits.connect + limits.answer,
                                          .stall = limits.stall,
                                          .look = look});
  const std::unique_ptr<PingConnection> connection = TRY(std::move(accepted));
  const auto ended = [&] { return connection->disconnected() || channel.has_message(); };
  for (uint64_t number = 0; !ended(); ++number) {
    auto ping = ping_as_source(*connection, number, static_cast<uint32_t>(wanted.size_bytes));
    if (!ping && !ended()) return fail(std::move(ping.error()));
  }
  TRY(channel.expect<CloseTest>(limits.answer));
  return {};
}

Result<PingReport> serve_one(const TickClock& clock, const RpingServerOptions& options, const CmEvents& events) {
  const auto look = [&]() -> Result<void> {
    if (options.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
    return {};
  };
  const std::unique_ptr<PingConnection> connection = TRY(PingConnection::accept(clock, events,
                                                                                {.peer = {},
                                                                                 .port = options.port,
                                                                                 .from = {},
                                                                                 .private_data = {},
                                                                                 .role = PingRole::kMover,
                                                                                 .patience = std::chrono::hours(1),
                                                                                 .stall = options.limits.stall,
                                                                                 .look = look}));
  PingReport report = report_of(*connection, PingRole::kMover);
  report.peer = report.peer_address;
  report.speaks = PingPeer::kRping;
  for (uint64_t number = 0;; ++number) {
    auto times = ping_as_mover(*connection, number, {});
    if (!times) report.ended_by = times.error().story();
    if (!times || !*times) return report;
    report.size_bytes = connection->end().last_moved_bytes();
    report.add(**times);
  }
}

Result<Served> serve_ping(Session& session, const Envelope& opening) {
  const OpenPing wanted = TRY(decode_as<OpenPing>(opening));
  const Endpoint end = TRY(tcp_endpoint(session.kernel(), session.channel()));
  const Turns::Turn turn = TRY(session.wait_for_turn({.device = end.netdev.empty() ? end.address : end.netdev,
                                                      .memory_bytes = int64_t{2} * kMostPing_bytes,
                                                      .streams = 0}));
  TRY(session.announce(fmt::format("pings of {}", size_text(wanted.size_bytes))));
  TRY(serve_pings(session.channel(), session.clock(), session.options().limits, wanted));
  return Served::kTest;
}

}  // namespace

Protocol ping_protocol() {
  return {.opens_with = OpenPing::kName, .serve = serve_ping};
}

Result<void> serve_rping(const TickClock& clock, const RpingServerOptions& options) {
  const CmEvents events = TRY(CmEvents::open());
  const CmListener listener = TRY(CmListener::open(events, options.bind, options.port));
  if (options.on_ready) options.on_ready(listener.port);
  while (!options.stop.stop_requested()) {
    auto served = serve_one(clock, options, events);
    if (served && options.on_report) options.on_report(*served);
    if (!served && options.stop.stop_requested()) break;
    if (!served && served.error().code != Code::kTimeout && options.on_event)
      options.on_event(served.error().to_string());
    if (served && served->ended_by.empty() && options.once) break;
  }
  return {};
}

}  // namespace railbed::perf
