// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/rdma_stream_loop.h"

#include <algorithm>

#include <sched.h>

namespace railbed::perf {
namespace {

// Small messages walk through a page by cache lines, so that they do not all hit the same line.
constexpr uint64_t kWalk_bytes = 4096;

}  // namespace

StreamLoop::Chain StreamLoop::make_chain(size_t lane, int count) const {
  const int64_t size_bytes = settings_.round.size_bytes;
  Chain chain;
  chain.requests.resize(static_cast<size_t>(count));
  chain.pieces.resize(static_cast<size_t>(count));
  const uint64_t step = (static_cast<uint64_t>(size_bytes) + 63) / 64 * 64;
  const uint64_t places = std::max<uint64_t>(1, kWalk_bytes / step);
  for (size_t i = 0; i < chain.requests.size(); ++i) {
    chain.requests[i] = link_.request(lane, size_bytes, i % places * step, chain.pieces[i]);
    if (i > 0) chain.requests[i - 1].next = &chain.requests[i];
  }
  chain.requests.back().send_flags |= IBV_SEND_SIGNALED;
  return chain;
}

void StreamLoop::begin(uint64_t start) {
  start_ = last_progress_ = start;
  next_check_ = start_ + settings_.interval_ticks;
  result_.messages = 0;
  result_.meter = {};
}

Result<void> StreamLoop::fill(size_t index, Chain& chain) {
  const Pacing& pacing = result_.pacing;
  const int64_t wanted = settings_.round.messages;
  const size_t lane = group_.first + index;
  int64_t& posted_here = posted_on_[index];
  while (!stopping_ && link_.lanes()[lane].outstanding + pacing.batch <= pacing.depth) {
    int count = pacing.batch;
    // A peer that counts has as many receives on each queue pair.
    if (wanted > 0)
      count = static_cast<int>(std::min({int64_t{count}, wanted - posted_, most_per_pair_ - posted_here}));
    if (count == 0) return {};
    TRY(post(lane, chain, count));
    posted_here += count;
    posted_ += count;
    if (wanted > 0 && posted_ >= wanted) stopping_ = true;
  }
  return {};
}

// Posts the last `count` requests of the chain: a round may end with less than a batch.
Result<void> StreamLoop::post(size_t lane, Chain& chain, int count) {
  const size_t first = chain.requests.size() - static_cast<size_t>(count);
  chain.requests.back().wr_id = static_cast<uint64_t>(lane) << 32 | static_cast<uint64_t>(count);
  if (const int status = link_.post(lane, &chain.requests[first]); status != 0) [[unlikely]]
    return fail(refused(status, count));
  link_.lanes()[lane].outstanding += count;
  under_way_ += count;
  return {};
}

// Out of the way of what each message passes.
[[gnu::cold]] Error StreamLoop::refused(int status, int count) const {
  return system_error(status, fmt::format("posting {} messages on {}", count, link_.device()));
}

// Takes completed batches; when there are none, yields and looks after the peer.
Result<void> StreamLoop::reap() {
  ibv_wc done[32];
  const int count = ibv_poll_cq(group_.completions.get(), std::size(done), done);
  if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", link_.device());
  if (settings_.receiver != nullptr) TRY(settings_.receiver->take());
  if (count == 0) {
    ++idle_polls_;
    if ((idle_polls_ & link_.yield_mask()) == 0) sched_yield();
    if ((idle_polls_ & 1023) != 0) return {};
  }
  const uint64_t now = clock_.now();
  for (int i = 0; i < count; ++i) {
    if (done[i].status != IBV_WC_SUCCESS) return fail(link_.completion_error(done[i], link_.verb().text));
    const auto messages = static_cast<int64_t>(done[i].wr_id & 0xffffffff);
    link_.lanes()[done[i].wr_id >> 32].outstanding -= static_cast<int>(messages);
    under_way_ -= messages;
    result_.messages += messages;
    result_.meter.add(clock_.between_ns(start_, now), static_cast<uint64_t>(messages * settings_.round.size_bytes));
  }
  if (count > 0) last_progress_ = now;
  if (now >= end_) stopping_ = true;
  if (now >= next_check_) {
    next_check_ = now + settings_.interval_ticks;
    TRY(settings_.look(now, last_progress_, result_.messages));
  }
  return {};
}

Result<void> StreamLoop::warm_up() {
  begin(clock_.now());
  if (!settings_.round.warms_up || link_.verb().is_datagram) return {};
  for (size_t lane = group_.first; lane < group_.end(); ++lane) {
    Chain chain = make_chain(lane, 1);
    TRY(post(lane, chain, 1));
  }
  while (under_way_ > 0) TRY(reap());
  return {};
}

Result<StreamResult> StreamLoop::run(uint64_t start) {
  const Round& round = settings_.round;
  result_ = {.pacing = pacing_for(round.size_bytes, link_.tx_depth(), link_.post_list()),
             .sent_inline = link_.goes_inline(round.size_bytes)};
  const auto pairs = static_cast<int64_t>(group_.count);
  most_per_pair_ = (round.messages + pairs - 1) / pairs;
  posted_on_.assign(group_.count, 0);
  std::vector<Chain> chains;
  for (size_t lane = group_.first; lane < group_.end(); ++lane)
    chains.push_back(make_chain(lane, result_.pacing.batch));
  begin(start);
  if (round.messages == 0) end_ = start_ + clock_.to_ticks(round.duration_ns);
  do {
    for (size_t i = 0; i < chains.size() && !stopping_; ++i) TRY(fill(i, chains[i]));
    TRY(reap());
  } while (!stopping_ || under_way_ > 0);
  result_.duration_ns = clock_.between_ns(start_, last_progress_);
  return std::move(result_);
}

}  // namespace railbed::perf
