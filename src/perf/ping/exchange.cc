// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/exchange.h"

#include <algorithm>

namespace railbed::perf {
namespace {

template <typename T>
Result<T> in_phase(PingPhase phase, const PingConnection& connection, Result<T> result) {
  if (!result) return fail(data_phase_failed(phase, std::move(result.error()), connection.peer()));
  return result;
}

// The advert of one end of a ping must not differ from that of the other.
Result<void> check_size(uint32_t offered, uint32_t wanted) {
  if (offered == wanted) return {};
  return fail(Code::kInvalid, "the peer offers {} bytes where {} were due", offered, wanted);
}

}  // namespace

Result<PingTimes> ping_as_source(PingConnection& connection, uint64_t number, uint32_t size_bytes) {
  PingEnd& end = connection.end();
  const std::span<std::byte> outgoing = end.outgoing(size_bytes);
  const std::span<std::byte> incoming = end.incoming(size_bytes);
  fill(outgoing, number);
  std::ranges::fill(incoming, std::byte{0xff});
  PingTimes times;
  uint64_t began = end.now();
  TRY(in_phase(PingPhase::kRead, connection, end.advertise(outgoing)));
  TRY(in_phase(PingPhase::kRead, connection, end.await_go_ahead()));
  times.read_ns = end.since_ns(began);
  began = end.now();
  TRY(in_phase(PingPhase::kWrite, connection, end.advertise(incoming)));
  TRY(in_phase(PingPhase::kWrite, connection, end.await_go_ahead()));
  times.write_ns = end.since_ns(began);
  TRY(check_filled(incoming, number, "the data that the peer wrote"));
  return times;
}

Result<std::optional<PingTimes>> ping_as_mover(PingConnection& connection, uint64_t number,
                                               const std::optional<KnownSource>& known) {
  PingEnd& end = connection.end();
  auto first = end.await_advert();
  if (!first && connection.disconnected()) return std::nullopt;
  const Advert source = TRY(in_phase(PingPhase::kMessage, connection, std::move(first)));
  if (known) TRY(check_size(source.size_bytes, known->size_bytes));
  const std::span<std::byte> data = end.outgoing(source.size_bytes);
  if (known) std::ranges::fill(data, std::byte{0xff});
  PingTimes times;
  uint64_t began = end.now();
  TRY(in_phase(PingPhase::kRead, connection, end.read(source)));
  times.read_ns = end.since_ns(began);
  if (known) TRY(check_filled(data, number, "the data that were read"));
  began = end.now();
  TRY(in_phase(PingPhase::kMessage, connection, end.go_ahead()));
  const Advert sink = TRY(in_phase(PingPhase::kMessage, connection, end.await_advert()));
  times.message_ns = end.since_ns(began);
  TRY(check_size(sink.size_bytes, source.size_bytes));
  began = end.now();
  TRY(in_phase(PingPhase::kWrite, connection, end.write(sink)));
  times.write_ns = end.since_ns(began);
  TRY(in_phase(PingPhase::kMessage, connection, end.go_ahead()));
  // A peer that has all that it wanted may be gone before this is acknowledged.
  auto acknowledged = end.finish_sends();
  if (!connection.disconnected()) TRY(in_phase(PingPhase::kMessage, connection, std::move(acknowledged)));
  return times;
}

}  // namespace railbed::perf
