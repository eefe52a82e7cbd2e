// SPDX-License-Identifier: Apache-2.0
// One exchange after another, for any transport: the common part of all latency loops.
//
// A port sends a ping (send), waits for its answer (await), and tracks what is in flight (drain).
// Threading: that of the link.
// Failure: the port's.
#pragma once

#include <cerrno>

#include "perf/stream/poll_pace.h"
#include "perf/stream/rdma_link.h"

namespace railbed::perf {

enum class Answer : uint8_t { kCame, kLost };

// Sends whose completions are not looked at one by one: every 64th is signalled, so that they cost next to nothing.
// Errors are noticed in the slow path of a wait.
class SparseSends {
 public:
  explicit SparseSends(RdmaLink& link) : link_(link) {}

  Result<void> post(ibv_send_wr& request, bool last, PollPace& pace) {
    const bool signalled = ++unsignalled_ >= kSignalEvery || last;
    if (signalled) {
      // The previous signalled one is kSignalEvery pings old, so its completion is there without waiting.
      while (under_way_ > 1) TRY(take_completion(pace));
      unsignalled_ = 0;
      ++under_way_;
    }
    request.send_flags &= ~unsigned{IBV_SEND_SIGNALED};
    if (signalled) request.send_flags |= IBV_SEND_SIGNALED;
    if (const int status = link_.post(0, &request); status != 0)
      return fail(system_error(status, fmt::format("posting a message on {}", link_.device())));
    return {};
  }
  Result<void> poll() {
    ibv_wc done{};
    const int count = ibv_poll_cq(link_.completions(), 1, &done);
    if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", link_.device());
    if (count > 0 && done.status != IBV_WC_SUCCESS) return fail(link_.completion_error(done, link_.verb().text));
    under_way_ -= count;
    return {};
  }
  Result<void> drain(PollPace& pace) {
    while (under_way_ > 0) TRY(take_completion(pace));
    return {};
  }

 private:
  static constexpr int kSignalEvery = 64;

  Result<void> take_completion(PollPace& pace) {
    for (const int before = under_way_; under_way_ == before;) {
      TRY(poll());
      if (pace.in_vain()) TRY(pace.look());
    }
    return {};
  }

  RdmaLink& link_;
  int unsignalled_ = 0;
  int under_way_ = 0;  // signalled ones whose completion has not come
};

template <typename Port>
Result<PingResult> ping_through(Port& port, const RdmaLink& link, const Round& round, PollPace& pace, Watch& watch) {
  const TickClock& clock = watch.clock();
  PingResult result{.duration_ns = 0,
                    .meter = LatencyMeter(LatencyMeter::slot_for_ns(round.duration_ns)),
                    .sent_inline = link.goes_inline(round.size_bytes)};
  // The first exchanges touch pages and resolve the path; they are not counted.
  for (int warm_up = 0; round.warms_up && warm_up < 4; ++warm_up) {
    TRY(port.send(false));
    TRY(port.await());
  }
  const uint64_t start = clock.now();
  const PingSchedule schedule(round, clock, start);
  uint64_t now = start;
  for (int64_t number = 0;; ++number) {
    const bool last = schedule.last(number, now);
    const uint64_t due = schedule.due(number, clock.now());
    TRY(pace.idle_until(due));
    TRY(port.send(last));
    const Answer answer = TRY(port.await());
    now = clock.now();
    if (answer == Answer::kCame)
      result.meter.add(clock.between_ns(start, due), clock.between_ns(due, now));
    else
      ++result.lost;
    if (last) break;
    pace.count(number + 1);
    TRY(pace.progress(now));
  }
  result.duration_ns = clock.between_ns(start, now);
  TRY(port.drain());
  return result;
}

}  // namespace railbed::perf
