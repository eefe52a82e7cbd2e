// SPDX-License-Identifier: Apache-2.0
// Latency of reads and atomics: the peer's device answers, and its processor takes no part.
#include "perf/stream/ping_loop.h"
#include "perf/stream/rdma_loops.h"

namespace railbed::perf {
namespace {

class FetchPort {
 public:
  FetchPort(RdmaLink& link, int64_t size_bytes, PollPace& pace)
      : link_(link), pace_(pace), request_(link.request(0, size_bytes, 0, piece_)) {
    request_.send_flags |= IBV_SEND_SIGNALED;
  }
  FetchPort(const FetchPort&) = delete;  // request_ points into the object
  FetchPort& operator=(const FetchPort&) = delete;

  Result<void> send(bool /*last*/) {
    if (const int status = link_.post(0, &request_); status != 0)
      return fail(system_error(status, fmt::format("posting a message on {}", link_.device())));
    return {};
  }
  Result<Answer> await() {
    for (;;) {
      ibv_wc done{};
      const int count = ibv_poll_cq(link_.completions(), 1, &done);
      if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", link_.device());
      if (count > 0 && done.status != IBV_WC_SUCCESS) return fail(link_.completion_error(done, link_.verb().text));
      if (count > 0) return Answer::kCame;
      if (pace_.in_vain()) TRY(pace_.look());
    }
  }
  Result<void> drain() { return {}; }

 private:
  RdmaLink& link_;
  PollPace& pace_;
  ibv_sge piece_{};
  ibv_send_wr request_;
};

}  // namespace

Result<PingResult> ping_by_completions(RdmaLink& link, const Round& round, Watch& watch) {
  PollPace pace(watch, link.yield_mask());
  FetchPort port(link, round.size_bytes, pace);
  return ping_through(port, link, round, pace, watch);
}

}  // namespace railbed::perf
