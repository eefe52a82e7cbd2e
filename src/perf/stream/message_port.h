// SPDX-License-Identifier: Apache-2.0
// One end of an exchange of messages (send, write with immediate, datagrams): an answer is a completion of a receive.
//
// Reliable connections deliver every message once and in order, so the next arrival is the answer. Datagrams may be
// lost or late: theirs carry the ping's number as immediate data, and after a while one counts as lost.
// Threading: that of the link.
// Failure: of posting and of completions, and the Watch's.
#pragma once

#include <arpa/inet.h>

#include "perf/stream/ping_loop.h"

namespace railbed::perf {

class MessagePort {
 public:
  MessagePort(RdmaLink& link, int64_t size_bytes, PollPace& pace, Watch& watch)
      : link_(link),
        pace_(pace),
        clock_(watch.clock()),
        lost_ns_(clock_.to_ns(watch.stall_ticks()) / 10),
        sends_(link),
        request_(link.request(0, size_bytes, 0, piece_)) {
    if (link.verb().is_datagram) request_.opcode = IBV_WR_SEND_WITH_IMM;
  }
  MessagePort(const MessagePort&) = delete;  // request_ points into the object
  MessagePort& operator=(const MessagePort&) = delete;

  Result<void> send(bool last) { return send_number(number_ + 1, last); }
  Result<void> send_number(uint32_t number, bool last) {
    number_ = number;
    request_.imm_data = htonl(number);
    return sends_.post(request_, last, pace_);
  }

  Result<Answer> await() {
    const uint64_t sent = link_.verb().is_datagram ? clock_.now() : 0;
    for (;;) {
      if (TRY(arrived()) && (!link_.verb().is_datagram || arrived_number_ == number_)) return Answer::kCame;
      if (!pace_.in_vain()) continue;
      TRY(sends_.poll());
      TRY(pace_.look());
      if (sent != 0 && clock_.between_ns(sent, clock_.now()) > lost_ns_) return Answer::kLost;
    }
  }
  // Whether a message has come; then its number is known.
  Result<bool> arrived() {
    ibv_wc come{};
    const int count = ibv_poll_cq(link_.arrivals(), 1, &come);
    if (count == 0) return false;
    if (count < 0) return fail(Code::kIo, "polling the queue of arrivals of {} failed", link_.device());
    if (come.status != IBV_WC_SUCCESS) return fail(link_.completion_error(come, "receiving"));
    arrived_number_ = ntohl(come.imm_data);
    ++link_.lanes()[0].used_receives;
    TRY(link_.return_receives(0));
    pace_.note_arrival();
    return true;
  }
  uint32_t arrived_number() const { return arrived_number_; }
  Result<void> poll_sends() { return sends_.poll(); }
  Result<void> drain() { return sends_.drain(pace_); }

 private:
  RdmaLink& link_;
  PollPace& pace_;
  const TickClock& clock_;
  uint64_t lost_ns_;
  SparseSends sends_;
  ibv_sge piece_{};
  ibv_send_wr request_;
  uint32_t number_ = 0;
  uint32_t arrived_number_ = 0;
};

}  // namespace railbed::perf
