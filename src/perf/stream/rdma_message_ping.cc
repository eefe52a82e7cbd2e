// SPDX-License-Identifier: Apache-2.0
// Latency by messages: the loops over MessagePort.
#include "perf/stream/message_port.h"
#include "perf/stream/rdma_loops.h"

namespace railbed::perf {

Result<PingResult> ping_by_messages(RdmaLink& link, const Round& round, Watch& watch) {
  PollPace pace(watch, link.yield_mask());
  MessagePort port(link, round.size_bytes, pace, watch);
  return ping_through(port, link, round, pace, watch);
}

Result<int64_t> answer_by_messages(RdmaLink& link, int64_t size_bytes, Watch& watch) {
  constexpr uint64_t kAnswererLook_ns = 1'000'000;
  const TickClock& clock = watch.clock();
  PollPace pace(watch, link.yield_mask());
  MessagePort port(link, size_bytes, pace, watch);
  const uint64_t look_every = clock.to_ticks(kAnswererLook_ns);
  uint64_t next_look = clock.now() + look_every;
  for (int64_t answered = 0;;) {
    if (TRY(port.arrived())) {
      TRY(port.send_number(port.arrived_number(), false));
      ++answered;
      if ((answered & 63) == 0) TRY(pace.progress(clock.now()));
      continue;
    }
    if (!pace.in_vain()) continue;
    const uint64_t now = clock.now();
    if (now < next_look) continue;
    next_look = now + look_every;
    TRY(port.poll_sends());
    TRY(pace.look());
    if (!TRY(watch.peer_spoke())) continue;
    TRY(port.drain());
    return answered;
  }
}

}  // namespace railbed::perf
