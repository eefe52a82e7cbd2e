// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/rdma_receiver.h"

#include "perf/stream/poll_pace.h"

namespace railbed::perf {
namespace {

constexpr uint64_t kReceiverLook_ns = 1'000'000;
// The last datagrams may lie in a queue of the fabric, or of a soft device on a busy machine.
constexpr uint64_t kLastWait_ns = 200'000'000;

}  // namespace

Result<int> Receiver::take() {
  ibv_wc come[32];
  const int count = ibv_poll_cq(link_.arrivals(), std::size(come), come);
  if (count == 0) return 0;
  if (count < 0) return fail(Code::kIo, "polling the queue of arrivals of {} failed", link_.device());
  const uint64_t now = clock_.now();
  // A datagram of an earlier size may come late.
  const auto datagram_bytes = static_cast<uint32_t>(size_bytes_ + kGrh_bytes);
  int messages = 0;
  for (int i = 0; i < count; ++i) {
    if (come[i].status != IBV_WC_SUCCESS) return fail(link_.completion_error(come[i], "receiving"));
    ++link_.lanes()[come[i].wr_id].used_receives;
    if (!link_.verb().is_datagram || come[i].byte_len == datagram_bytes) ++messages;
    if (!link_.verb().is_datagram && come[i].byte_len != size_bytes_) other_size_bytes_ = come[i].byte_len;
  }
  for (int i = 0; i < count; ++i) TRY(link_.return_receives(come[i].wr_id));
  if (messages == 0) return 0;
  if (messages_ == 0) first_ = now;
  last_ = now;
  messages_ += messages;
  meter_.add(clock_.between_ns(first_, now), static_cast<uint64_t>(messages * size_bytes_));
  return messages;
}

Result<void> Receiver::take_until_stopped(Watch& watch) {
  PollPace pace(watch, link_.yield_mask());
  const uint64_t look_every = clock_.to_ticks(kReceiverLook_ns);
  uint64_t next_look = 0;
  for (;;) {
    if (TRY(take()) > 0)
      TRY(pace.progress(last_));
    else if (!pace.in_vain())
      continue;
    const uint64_t now = clock_.now();
    if (now < next_look) continue;
    next_look = now + look_every;
    TRY(pace.look());
    if (TRY(watch.peer_spoke())) return {};
  }
}

Result<void> Receiver::take_rest(int64_t expected, Watch& watch) {
  PollPace pace(watch, link_.yield_mask());
  uint64_t quiet_since = clock_.now();
  while (messages_ < expected) {
    if (TRY(take()) > 0) {
      quiet_since = last_;
      TRY(pace.progress(last_));
    } else if (pace.in_vain() && clock_.between_ns(quiet_since, clock_.now()) > kLastWait_ns) {
      return {};
    }
  }
  return {};
}

}  // namespace railbed::perf
