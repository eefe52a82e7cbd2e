// SPDX-License-Identifier: Apache-2.0
// Prevents measuring loops from running forever.
//
// Why: a busy-polling loop sees only its own memory. Every `interval` of ticks it calls tick(), outside of any timed
// section; that checks whether the control channel is alive and whether there was progress, and signals to the peer
// that this side is alive. Between two calls a loop has no extra cost.
// Threading: that of the channel.
// Failure: kTimeout without progress for `stall`; the channel's errors.
#pragma once

#include <chrono>
#include <stop_token>

#include "perf/channel/peer.h"
#include "perf/deadline.h"
#include "perf/live_figures.h"
#include "perf/test_spec.h"
#include "perf/tick_clock.h"

namespace railbed::perf {

// How long each side waits, and by which clock; tests use small values and a clock of their own.
struct Limits {
  std::chrono::milliseconds connect{5000};
  std::chrono::milliseconds greet{5000};    // for a client's first message
  std::chrono::milliseconds answer{10000};  // for the answer to a control message
  std::chrono::milliseconds idle{30000};    // between two requests of a client
  std::chrono::milliseconds stall{10000};   // without a byte of traffic
  std::chrono::milliseconds check{250};     // how often a loop calls tick()
  std::chrono::milliseconds turn{600000};   // until it is a client's turn
  int max_sessions = 16;
  int max_silent = 64;  // clients that have not said who they are; the oldest goes when there are more
  Clock* clock = &real_clock();

  Deadline after(std::chrono::milliseconds delay) const { return Deadline::after(delay, *clock); }
};

class Watch {
 public:
  enum class Heartbeats : uint8_t { kNone, kSent };

  Watch(Peer& peer, const TickClock& clock, const Limits& limits, Heartbeats heartbeats, Transport transport)
      : peer_(&peer),
        transport_(transport),
        clock_(clock),
        sends_heartbeats_(heartbeats == Heartbeats::kSent),
        stall_ticks_(clock.to_ticks(static_cast<uint64_t>(limits.stall.count()) * 1'000'000)),
        interval_ticks_(clock.to_ticks(static_cast<uint64_t>(limits.check.count()) * 1'000'000)) {}

  // For a loop beside another one, which looks after the channel: ends when it is stopped.
  Watch(std::stop_token stop, const TickClock& clock, const Limits& limits, Transport transport)
      : stop_(std::move(stop)),
        transport_(transport),
        clock_(clock),
        sends_heartbeats_(false),
        stall_ticks_(clock.to_ticks(static_cast<uint64_t>(limits.stall.count()) * 1'000'000)),
        interval_ticks_(clock.to_ticks(static_cast<uint64_t>(limits.check.count()) * 1'000'000)) {}

  const TickClock& clock() const { return clock_; }
  uint64_t interval_ticks() const { return interval_ticks_; }
  uint64_t stall_ticks() const { return stall_ticks_; }
  // Until when a round may last at all: traffic alone must not hold a server forever.
  void end_after(std::chrono::milliseconds longest) {
    longest_ = longest;
    end_ = clock_.now() + clock_.to_ticks(static_cast<uint64_t>(longest.count()) * 1'000'000);
  }
  // Where loops say how far they are; null: nowhere.
  void show(LiveFigures* live) { live_ = live; }
  // Whether the peer has sent a message, which ends a loop that only takes what comes. A system call.
  Result<bool> peer_spoke() {
    TRY(interrupted());
    return peer_ != nullptr && peer_->has_message();
  }

  // `messages`: how many are through; 0 where the loop does not say it.
  Result<void> tick(uint64_t now, uint64_t last_progress, int64_t messages = 0) {
    if (live_ != nullptr && messages > 0) live_->note(messages);
    TRY(interrupted());
    if (now > end_) return fail(Code::kTimeout, "the peer exceeds the limit of {} ms for a round", longest_.count());
    if (now > last_progress && now - last_progress > stall_ticks_)
      return fail(
          Error{.code = Code::kTimeout,
                .sys_errno = 0,
                .message = fmt::format("no traffic for {} ms although the peer's control connection is open",
                                       clock_.to_ns(now - last_progress) / 1'000'000),
                .context = {},
                .hint = transport_ == Transport::kRdma
                            ? "the data path is blocked: wrong GID, a firewall on UDP port 4791, or a stopped peer"
                            : "data connection stalled; the peer may have stopped, a firewall may drop its packets, or "
                              "the path MTU may be smaller than the interfaces'"});
    if (sends_heartbeats_ && now - last_heartbeat_ > 4 * interval_ticks_) {
      TRY(peer_->send_heartbeat());
      last_heartbeat_ = now;
    }
    return {};
  }

 private:
  Result<void> interrupted() {
    if (stop_.stop_requested()) return fail(Code::kCanceled, "stopped");
    return peer_ == nullptr ? Result<void>() : peer_->interrupted();
  }

  Peer* peer_ = nullptr;
  std::stop_token stop_;
  LiveFigures* live_ = nullptr;
  Transport transport_;
  const TickClock& clock_;
  bool sends_heartbeats_;
  uint64_t stall_ticks_;
  uint64_t interval_ticks_;
  uint64_t last_heartbeat_ = 0;
  std::chrono::milliseconds longest_{0};
  uint64_t end_ = UINT64_MAX;  // ticks
};

}  // namespace railbed::perf
