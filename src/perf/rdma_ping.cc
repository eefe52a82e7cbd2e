// SPDX-License-Identifier: Apache-2.0
// Latency: each side writes into the other's buffer and polls the last byte of its own.
//
// The last byte arrives last (writes of one queue pair are delivered in order, and this region is not registered with
// relaxed ordering). A sample is the time from before the post until the answer's last byte is seen. Only every 64th
// write is signalled, so completions cost next to nothing; errors are noticed in the slow path of the wait.
#include <sched.h>

#include "perf/rdma_link.h"

namespace railbed::perf {

class RdmaLink::PingPort {
 public:
  PingPort(RdmaLink& link, int64_t size_bytes, Watch& watch)
      : link_(link),
        watch_(watch),
        arrival_(reinterpret_cast<volatile uint8_t*>(link.receive_area(0)) + size_bytes - 1),
        departure_(reinterpret_cast<volatile uint8_t*>(link.send_area(0)) + size_bytes - 1),
        piece_{.addr = reinterpret_cast<uintptr_t>(link.send_area(0)),
               .length = static_cast<uint32_t>(size_bytes),
               .lkey = link.region_.local_key()} {
    request_.sg_list = &piece_;
    request_.num_sge = 1;
    request_.opcode = IBV_WR_RDMA_WRITE;
    request_.wr.rdma.remote_addr = link.remote_area(0);
    request_.wr.rdma.rkey = link.remote_.remote_key;
    inline_flag_ = piece_.length <= link.inline_bytes_ ? IBV_SEND_INLINE : 0;
    last_progress_ = watch.clock().now();
    next_check_ = last_progress_ + watch.interval_ticks();
  }
  PingPort(const PingPort&) = delete;  // request_ points into the object
  PingPort& operator=(const PingPort&) = delete;

  Result<void> send(uint8_t value, bool last) {
    const bool signalled = ++unsignalled_ >= kSignalEvery || last;
    if (signalled) {
      // The previous signalled write is kSignalEvery pings old, so its completion is there without waiting.
      while (under_way_ > 1) TRY(take_completion());
      unsignalled_ = 0;
      ++under_way_;
    }
    *departure_ = value;
    request_.send_flags = inline_flag_ | (signalled ? unsigned{IBV_SEND_SIGNALED} : 0u);
    ibv_send_wr* refused = nullptr;
    const int status = ibv_post_send(link_.lanes_[0].qp.get(), &request_, &refused);
    if (status != 0)
      return fail(system_error(status, fmt::format("posting a write on {}", link_.place_.device.name())));
    return {};
  }

  // Waits for `expected` or the last ping; returns the value that arrived.
  Result<uint8_t> await(uint8_t expected) {
    uint32_t polls = 0;
    for (;;) {
      const uint8_t seen = *arrival_;
      if (seen == expected || seen == kLastPing) {
        ++arrivals_;
        return seen;
      }
      ++polls;
      if ((polls & link_.yield_mask_) == 0) sched_yield();
      if ((polls & 4095) == 0) TRY(look_around());
    }
  }

  // Until a ping is due. The peer polls meanwhile, so this is progress.
  Result<void> idle_until(uint64_t due) {
    for (uint64_t now = watch_.clock().now(); now < due; now = watch_.clock().now()) {
      TRY(progress(now));
      if (link_.yield_mask_ != UINT32_MAX) sched_yield();
    }
    return {};
  }
  bool sends_inline() const { return inline_flag_ != 0; }

  // Also called between samples, so that an exchange without waits is watched as well.
  Result<void> progress(uint64_t now) {
    last_progress_ = now;
    if (now < next_check_) [[likely]]
      return {};
    return check(now);
  }
  Result<void> drain() {
    while (under_way_ > 0) TRY(take_completion());
    return {};
  }

 private:
  static constexpr int kSignalEvery = 64;

  Result<void> poll_completion() {
    ibv_wc done{};
    const int count = ibv_poll_cq(link_.completions_.get(), 1, &done);
    if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", link_.place_.device.name());
    if (count > 0 && done.status != IBV_WC_SUCCESS) return fail(link_.completion_error(done, "RDMA write"));
    under_way_ -= count;
    return {};
  }
  Result<void> take_completion() {
    uint32_t polls = 0;
    for (const int before = under_way_; under_way_ == before;) {
      TRY(poll_completion());
      if ((++polls & link_.yield_mask_) == 0) sched_yield();
      if ((polls & 4095) == 0) TRY(look_around());
    }
    return {};
  }
  // The slow path of a wait: checks whether the write has failed or the peer has gone.
  Result<void> look_around() {
    TRY(poll_completion());
    const uint64_t now = watch_.clock().now();
    if (arrivals_ != arrivals_seen_) {
      arrivals_seen_ = arrivals_;
      last_progress_ = now;
    }
    if (now < next_check_) return {};
    return check(now);
  }
  Result<void> check(uint64_t now) {
    next_check_ = now + watch_.interval_ticks();
    return watch_.tick(now, last_progress_);
  }

  RdmaLink& link_;
  Watch& watch_;
  volatile uint8_t* arrival_;
  volatile uint8_t* departure_;
  ibv_sge piece_;
  ibv_send_wr request_{};
  unsigned inline_flag_ = 0;
  int unsignalled_ = 0;
  int under_way_ = 0;  // signalled writes whose completion has not come
  uint64_t arrivals_ = 0;
  uint64_t arrivals_seen_ = 0;  // the value of arrivals_ at last_progress_
  uint64_t last_progress_ = 0;
  uint64_t next_check_ = 0;
};

void RdmaLink::prepare_pings(int64_t size_bytes) {
  reinterpret_cast<volatile uint8_t*>(receive_area(0))[size_bytes - 1] = 0;
}

Result<PingResult> RdmaLink::ping(const Round& round, Watch& watch) {
  const TickClock& clock = watch.clock();
  PingResult result{.duration_ns = 0, .meter = LatencyMeter(LatencyMeter::slot_for_ns(round.duration_ns))};
  PingPort port(*this, round.size_bytes, watch);
  uint8_t value = 0;
  // The first exchanges touch pages and resolve the path; they are not counted.
  for (int warm_up = 0; warm_up < 4; ++warm_up) {
    value = ping_after(value);
    TRY(port.send(value, false));
    TRY(port.await(value));
  }
  const uint64_t start = clock.now();
  const PingSchedule schedule(round, clock, start);
  uint64_t now = start;
  for (int64_t number = 0;; ++number) {
    const bool last = schedule.last(number, now);
    value = last ? kLastPing : ping_after(value);
    const uint64_t due = schedule.due(number, clock.now());
    TRY(port.idle_until(due));
    TRY(port.send(value, last));
    TRY(port.await(value));
    now = clock.now();
    result.meter.add(clock.between_ns(start, due), clock.between_ns(due, now));
    if (last) break;
    TRY(port.progress(now));
  }
  result.sent_inline = port.sends_inline();
  result.duration_ns = clock.between_ns(start, now);
  TRY(port.drain());
  return result;
}

Result<int64_t> RdmaLink::pong(int64_t size_bytes, Watch& watch) {
  const TickClock& clock = watch.clock();
  PingPort port(*this, size_bytes, watch);
  int64_t answered = 0;
  for (uint8_t expected = 1;; expected = ping_after(expected)) {
    const uint8_t seen = TRY(port.await(expected));
    const bool last = seen == kLastPing;
    TRY(port.send(seen, last));
    ++answered;
    if (last) break;
    if ((answered & 63) == 0) TRY(port.progress(clock.now()));
  }
  TRY(port.drain());
  return answered;
}

}  // namespace railbed::perf
