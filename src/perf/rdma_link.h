// SPDX-License-Identifier: Apache-2.0
// A connected set of queue pairs with its memory, and the loops that measure over it: RC, RDMA WRITE.
//
// Why: comparable with what the field uses (128 writes under way, page-aligned buffers, latency by polling
// the last byte of the own buffer, half the round trip), but with a bounded wait everywhere and every sample
// kept. Order: open() on both sides, exchange address()es, connect() on both, then rounds. Threading: one
// thread per instance. Failure: verbs' own (verbs.h), and the Watch's.
#pragma once

#include <memory>
#include <vector>

#include "perf/message.h"
#include "perf/rdma_place.h"
#include "perf/traffic.h"
#include "perf/verbs.h"
#include "perf/watch.h"

namespace railbed::perf {

class RdmaLink {
 public:
  static Result<RdmaLink> open(const os::FileTree& files, RdmaPlace place, const TestSpec& spec);

  const Endpoint& endpoint() const { return place_.endpoint; }
  RdmaAddress address() const;
  Result<void> connect(const RdmaAddress& remote);

  // Writes as fast as possible, until the round's messages or time are used up and all writes are acknowledged.
  Result<StreamResult> stream(const Round& round, Watch& watch);
  // Resets the state of the last round. Both sides must call it before either sends a ping.
  void prepare_pings(int64_t size_bytes);
  Result<PingResult> ping(const Round& round, Watch& watch);
  // Answers pings until the last one. Returns their number.
  Result<int64_t> pong(int64_t size_bytes, Watch& watch);

 private:
  struct Chain;  // a batch of linked work requests
  struct Lane {
    QueuePairPtr qp;
    uint32_t sequence = 0;
    int outstanding = 0;
  };
  explicit RdmaLink(RdmaPlace place) : place_(std::move(place)) {}
  std::byte* send_area(size_t lane) const { return region_.data() + 2 * lane * span_bytes_; }
  std::byte* receive_area(size_t lane) const { return send_area(lane) + span_bytes_; }
  uint64_t remote_area(size_t lane) const { return remote_.address + (2 * lane + 1) * span_bytes_; }
  Result<void> create_lanes(const TestSpec& spec);
  Chain make_chain(size_t lane, const Round& round, int batch) const;
  Result<void> post(Lane& lane, Chain& chain, int count);
  Error completion_error(const ibv_wc& completion, std::string_view operation) const;
  struct StreamState;
  Result<void> reap(StreamState& state, Watch& watch);
  Result<void> warm_up(const Round& round, Watch& watch);
  class PingPort;

  RdmaPlace place_;
  DomainPtr domain_;
  MemoryRegion region_;
  CompletionQueuePtr completions_;
  std::vector<Lane> lanes_;
  size_t span_bytes_ = 0;
  uint32_t inline_bytes_ = 0;
  int tx_depth_ = 0;
  uint32_t yield_mask_ = 0;  // yields once per this + 1 fruitless polls; all ones: never
  RdmaAddress remote_;
};

}  // namespace railbed::perf
