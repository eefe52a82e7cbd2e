// SPDX-License-Identifier: Apache-2.0
// Bandwidth: keep `depth` messages under way on each queue pair.
//
// Work requests are prepared once, as a chain of `batch` linked ones of which the last is signalled, so one post and
// one completion serve a whole batch. The clock is read once per poll that found something.
#include <sched.h>

#include "perf/rdma_loops.h"

namespace railbed::perf {
namespace {

// Small messages walk through a page by cache lines, so that they do not all hit the same line.
constexpr uint64_t kWalk_bytes = 4096;

struct Chain {
  std::vector<ibv_send_wr> requests;
  std::vector<ibv_sge> pieces;
};

Chain make_chain(const RdmaLink& link, size_t lane, int64_t size_bytes, int count) {
  Chain chain;
  chain.requests.resize(static_cast<size_t>(count));
  chain.pieces.resize(static_cast<size_t>(count));
  const uint64_t step = (static_cast<uint64_t>(size_bytes) + 63) / 64 * 64;
  const uint64_t places = std::max<uint64_t>(1, kWalk_bytes / step);
  for (size_t i = 0; i < chain.requests.size(); ++i) {
    chain.requests[i] = link.request(lane, size_bytes, i % places * step, chain.pieces[i]);
    if (i > 0) chain.requests[i - 1].next = &chain.requests[i];
  }
  chain.requests.back().send_flags |= IBV_SEND_SIGNALED;
  return chain;
}

class Stream {
 public:
  Stream(RdmaLink& link, const Round& round, Receiver* receiver, Watch& watch)
      : link_(link), round_(round), receiver_(receiver), watch_(watch), clock_(watch.clock()) {}

  // One message per queue pair, so that neither page faults nor the first look-up of the path are measured. Datagrams
  // have none: their receiver could not tell it from the others.
  Result<void> warm_up() {
    begin();
    if (link_.verb().is_datagram) return {};
    for (size_t i = 0; i < link_.lanes().size(); ++i) {
      Chain chain = make_chain(link_, i, round_.size_bytes, 1);
      TRY(post(i, chain, 1));
    }
    while (under_way_ > 0) TRY(reap());
    return {};
  }

  Result<StreamResult> run() {
    const size_t lanes = link_.lanes().size();
    most_per_lane_ = (round_.messages + static_cast<int64_t>(lanes) - 1) / static_cast<int64_t>(lanes);
    posted_on_.assign(lanes, 0);
    result_ = {.pacing = pacing_for(round_.size_bytes, link_.tx_depth(), link_.post_list()),
               .sent_inline = link_.goes_inline(round_.size_bytes)};
    std::vector<Chain> chains;
    for (size_t i = 0; i < lanes; ++i) chains.push_back(make_chain(link_, i, round_.size_bytes, result_.pacing.batch));
    begin();
    if (round_.messages == 0) end_ = start_ + clock_.to_ticks(round_.duration_ns);
    do {
      for (size_t i = 0; i < lanes && !stopping_; ++i) TRY(fill(i, chains[i]));
      TRY(reap());
    } while (!stopping_ || under_way_ > 0);
    result_.duration_ns = clock_.between_ns(start_, last_progress_);
    return std::move(result_);
  }

 private:
  void begin() {
    start_ = last_progress_ = clock_.now();
    next_check_ = start_ + watch_.interval_ticks();
    result_.messages = 0;
    result_.meter = {};
  }

  Result<void> fill(size_t lane, Chain& chain) {
    const Pacing& pacing = result_.pacing;
    while (!stopping_ && link_.lanes()[lane].outstanding + pacing.batch <= pacing.depth) {
      int count = pacing.batch;
      // A peer that counts has as many receives on each queue pair.
      if (round_.messages > 0)
        count =
            static_cast<int>(std::min({int64_t{count}, round_.messages - posted_, most_per_lane_ - posted_on_[lane]}));
      if (count == 0) return {};
      TRY(post(lane, chain, count));
      posted_on_[lane] += count;
      posted_ += count;
      if (round_.messages > 0 && posted_ >= round_.messages) stopping_ = true;
    }
    return {};
  }

  // Posts the last `count` requests of the chain: a round may end with less than a batch.
  Result<void> post(size_t lane, Chain& chain, int count) {
    const size_t first = chain.requests.size() - static_cast<size_t>(count);
    chain.requests.back().wr_id = static_cast<uint64_t>(lane) << 32 | static_cast<uint64_t>(count);
    ibv_send_wr* refused = nullptr;
    if (const int status = ibv_post_send(link_.lanes()[lane].qp.get(), &chain.requests[first], &refused); status != 0)
      return fail(system_error(status, fmt::format("posting {} messages on {}", count, link_.device())));
    link_.lanes()[lane].outstanding += count;
    under_way_ += count;
    return {};
  }

  // Takes completed batches; when there are none, yields and runs the watch.
  Result<void> reap() {
    ibv_wc done[32];
    const int count = ibv_poll_cq(link_.completions(), std::size(done), done);
    if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", link_.device());
    if (receiver_ != nullptr) TRY(receiver_->take());
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
      result_.meter.add(clock_.between_ns(start_, now), static_cast<uint64_t>(messages * round_.size_bytes));
    }
    if (count > 0) last_progress_ = now;
    if (now >= end_) stopping_ = true;
    if (now >= next_check_) {
      next_check_ = now + watch_.interval_ticks();
      TRY(watch_.tick(now, last_progress_, result_.messages));
    }
    return {};
  }

  RdmaLink& link_;
  const Round& round_;
  Receiver* receiver_;
  Watch& watch_;
  const TickClock& clock_;
  StreamResult result_;
  uint64_t start_ = 0;
  uint64_t end_ = UINT64_MAX;  // ticks
  uint64_t last_progress_ = 0;
  uint64_t next_check_ = 0;
  int64_t posted_ = 0;
  int64_t most_per_lane_ = 0;  // where the round has a number of messages
  std::vector<int64_t> posted_on_;
  int64_t under_way_ = 0;
  uint32_t idle_polls_ = 0;
  bool stopping_ = false;
};

}  // namespace

Result<StreamResult> stream(RdmaLink& link, const Round& round, Receiver* receiver, Watch& watch) {
  Stream loop(link, round, receiver, watch);
  if (round.warms_up) TRY(loop.warm_up().context("first message of {}", size_text(round.size_bytes)));
  return loop.run();
}

}  // namespace railbed::perf
