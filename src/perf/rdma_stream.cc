// SPDX-License-Identifier: Apache-2.0
// Bandwidth: keep `depth` writes under way on each queue pair.
//
// Work requests are prepared once, as a chain of `batch` linked ones of which the last is signalled, so one post and
// one completion serve a whole batch. The clock is read once per poll that found something.
#include <sched.h>

#include "perf/rdma_link.h"

namespace railbed::perf {

struct RdmaLink::Chain {
  std::vector<ibv_send_wr> requests;
  std::vector<ibv_sge> pieces;
};

struct RdmaLink::StreamState {
  Round round;
  Pacing pacing;
  StreamResult result;
  uint64_t start = 0;
  uint64_t end = UINT64_MAX;  // ticks
  uint64_t last_progress = 0;
  uint64_t next_check = 0;
  int64_t posted = 0;
  int64_t under_way = 0;
  uint32_t idle_polls = 0;
  bool stopping = false;
};

RdmaLink::Chain RdmaLink::make_chain(size_t lane, const Round& round, int batch) const {
  Chain chain;
  chain.requests.resize(static_cast<size_t>(batch));
  chain.pieces.resize(static_cast<size_t>(batch));
  // Small writes walk through a page by cache lines, so that they do not all hit the same line.
  const auto size = static_cast<uint64_t>(round.size_bytes);
  const uint64_t step = (size + 63) / 64 * 64;
  const uint64_t places = std::max<uint64_t>(1, 4096 / step);
  for (size_t i = 0; i < chain.requests.size(); ++i) {
    const uint64_t offset = i % places * step;
    chain.pieces[i] = {.addr = reinterpret_cast<uintptr_t>(send_area(lane)) + offset,
                       .length = static_cast<uint32_t>(size),
                       .lkey = region_.local_key()};
    ibv_send_wr& request = chain.requests[i];
    request = {};
    request.sg_list = &chain.pieces[i];
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = size <= inline_bytes_ ? IBV_SEND_INLINE : 0;
    request.wr.rdma.remote_addr = remote_area(lane) + offset;
    request.wr.rdma.rkey = remote_.remote_key;
  }
  return chain;
}

// Posts the last `count` requests of the chain: a round may end with less than a batch.
Result<void> RdmaLink::post(Lane& lane, Chain& chain, int count) {
  const size_t first = chain.requests.size() - static_cast<size_t>(count);
  ibv_send_wr& last = chain.requests.back();
  last.wr_id = static_cast<uint64_t>(&lane - lanes_.data()) << 32 | static_cast<uint64_t>(count);
  ibv_send_wr* refused = nullptr;
  if (const int status = ibv_post_send(lane.qp.get(), &chain.requests[first], &refused); status != 0)
    return fail(system_error(status, fmt::format("posting {} writes on {}", count, place_.device.name())));
  lane.outstanding += count;
  return {};
}

// Takes completed batches; when there are none, yields and runs the watch.
Result<void> RdmaLink::reap(StreamState& state, Watch& watch) {
  ibv_wc done[32];
  const int count = ibv_poll_cq(completions_.get(), std::size(done), done);
  if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", place_.device.name());
  const TickClock& clock = watch.clock();
  if (count == 0) {
    ++state.idle_polls;
    if ((state.idle_polls & yield_mask_) == 0) sched_yield();
    if ((state.idle_polls & 1023) != 0) return {};
  }
  const uint64_t now = clock.now();
  for (int i = 0; i < count; ++i) {
    if (done[i].status != IBV_WC_SUCCESS) return fail(completion_error(done[i], "RDMA write"));
    const auto messages = static_cast<int64_t>(done[i].wr_id & 0xffffffff);
    lanes_[done[i].wr_id >> 32].outstanding -= static_cast<int>(messages);
    state.under_way -= messages;
    state.result.messages += messages;
    state.result.meter.add(clock.between_ns(state.start, now),
                           static_cast<uint64_t>(messages * state.round.size_bytes));
  }
  if (count > 0) state.last_progress = now;
  if (now >= state.end) state.stopping = true;
  if (now >= state.next_check) {
    state.next_check = now + watch.interval_ticks();
    TRY(watch.tick(now, state.last_progress));
  }
  return {};
}

// One write per queue pair, so that neither page faults nor the first look-up of the path are measured.
Result<void> RdmaLink::warm_up(const Round& round, Watch& watch) {
  StreamState state{.round = round};
  state.start = state.last_progress = watch.clock().now();
  state.next_check = state.start + watch.interval_ticks();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Chain chain = make_chain(i, round, 1);
    chain.requests[0].send_flags |= IBV_SEND_SIGNALED;
    TRY(post(lanes_[i], chain, 1));
    ++state.under_way;
  }
  while (state.under_way > 0) TRY(reap(state, watch));
  return {};
}

Result<StreamResult> RdmaLink::stream(const Round& round, Watch& watch) {
  TRY(warm_up(round, watch).context("first write of {}", size_text(round.size_bytes)));
  StreamState state{.round = round, .pacing = pacing_for(round.size_bytes, tx_depth_)};
  state.result.pacing = state.pacing;
  state.result.sent_inline = static_cast<uint64_t>(round.size_bytes) <= inline_bytes_;
  std::vector<Chain> chains;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    chains.push_back(make_chain(i, round, state.pacing.batch));
    auto& requests = chains.back().requests;
    for (size_t k = 0; k + 1 < requests.size(); ++k) requests[k].next = &requests[k + 1];
    requests.back().send_flags |= IBV_SEND_SIGNALED;
  }
  const TickClock& clock = watch.clock();
  state.start = state.last_progress = clock.now();
  if (round.messages == 0) state.end = state.start + clock.to_ticks(round.duration_ns);
  state.next_check = state.start + watch.interval_ticks();
  do {
    for (size_t i = 0; i < lanes_.size() && !state.stopping; ++i) {
      while (!state.stopping && lanes_[i].outstanding + state.pacing.batch <= state.pacing.depth) {
        int count = state.pacing.batch;
        if (round.messages > 0) count = static_cast<int>(std::min<int64_t>(count, round.messages - state.posted));
        TRY(post(lanes_[i], chains[i], count));
        state.posted += count;
        state.under_way += count;
        if (round.messages > 0 && state.posted >= round.messages) state.stopping = true;
      }
    }
    TRY(reap(state, watch));
  } while (!state.stopping || state.under_way > 0);
  state.result.duration_ns = clock.between_ns(state.start, state.last_progress);
  return std::move(state.result);
}

}  // namespace railbed::perf
