// SPDX-License-Identifier: Apache-2.0
// The loop of a bandwidth test over one group of queue pairs: posts, and processes completions.
//
// Why: one thread runs it over all queue pairs, or several over a group each. Work requests are prepared once, as a
// chain of `batch` linked ones of which the last is signalled, so one post and one completion serve a whole batch. The
// clock is read once per poll that found something.
// Threading: that of the group.
// Failure: verbs' own, and the look's.
#pragma once

#include <functional>

#include "perf/stream/rdma_link.h"
#include "perf/stream/rdma_receiver.h"

namespace railbed::perf {

class StreamLoop {
 public:
  // The slow path, every `interval_ticks`: when there was traffic last, and how many messages are complete. A failure
  // ends the loop.
  using Look = std::function<Result<void>(uint64_t now, uint64_t last_progress, int64_t messages)>;
  struct Settings {
    Round round;  // with the messages of this group
    Receiver* receiver = nullptr;
    uint64_t interval_ticks = 0;
    Look look;
  };
  StreamLoop(RdmaLink& link, size_t group, Settings settings, const TickClock& clock)
      : link_(link), group_(link.groups()[group]), settings_(std::move(settings)), clock_(clock) {}

  // One message per queue pair, unless the peer counts, so that neither page faults nor the first look-up of the path
  // are measured. Datagrams have none: their receiver could not distinguish it from the others.
  Result<void> warm_up();
  // Durations count from `start`.
  Result<StreamResult> run(uint64_t start);

 private:
  struct Chain {
    std::vector<ibv_send_wr> requests;
    std::vector<ibv_sge> pieces;
  };
  Chain make_chain(size_t lane, int count) const;
  void begin(uint64_t start);
  // For each message: inline, in the one file that has them and calls them.
  inline Result<void> fill(size_t index, Chain& chain);  // of the group's `index`th queue pair
  inline Result<void> post(size_t lane, Chain& chain, int count);
  inline Result<void> reap();
  Error refused(int status, int count) const;

  RdmaLink& link_;
  const RdmaLink::Group& group_;
  Settings settings_;
  const TickClock& clock_;
  StreamResult result_;
  uint64_t start_ = 0;
  uint64_t end_ = UINT64_MAX;
  uint64_t next_check_ = 0;
  uint64_t last_progress_ = 0;
  int64_t posted_ = 0;
  int64_t most_per_pair_ = 0;       // where the round has a number of messages
  std::vector<int64_t> posted_on_;  // of each queue pair
  int64_t under_way_ = 0;
  uint32_t idle_polls_ = 0;
  bool stopping_ = false;
};

}  // namespace railbed::perf
