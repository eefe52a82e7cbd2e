// SPDX-License-Identifier: Apache-2.0
// This end's queue pairs, connected to the peer's, with their memory.
//
// Why: every measuring loop (rdma_loops.h) needs the same: lanes, memory areas for sending and receiving, and requests
// of the test's verb. Order: open() on both sides, exchange address()es, connect() on both, then rounds; receives are
// posted before any peer knows the address.
// Threading: one thread per instance; while a round streams, one for each group.
// Failure: as verbs.h.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "perf/link_address.h"
#include "perf/stream/device.h"
#include "perf/stream/post.h"
#include "perf/stream/traffic.h"
#include "perf/stream/verbs.h"

namespace railbed::perf {

// A UD receive begins with the datagram's GRH, or with room for one.
inline constexpr int64_t kGrh_bytes = 40;

// For who waits for completions in a way of its own.
using MakeQueue = std::function<Result<CompletionQueuePtr>(const Device& device, int entries)>;

// Where the messages of one queue pair go in the memory of a peer that lays it out in another way than railbed
// (link_address.h).
struct LaneTarget {
  uint64_t address = 0;
  uint32_t key = 0;
};

class RdmaLink {
 public:
  // What the memory of a test takes of this machine's.
  static int64_t memory_bytes(const TestSpec& spec, Side side);
  // `make_queue`: for the completions of what is sent; empty: Device::completion_queue().
  static Result<RdmaLink> open(const os::FileTree& files, RdmaPlace place, const TestSpec& spec, Side side,
                               const MakeQueue& make_queue = {});

  const Endpoint& endpoint() const { return device_.endpoint(); }
  RdmaAddress address() const;
  // `targets`: one per queue pair, or none where the peer is a railbed.
  Result<void> connect(const RdmaAddress& remote, const std::vector<LaneTarget>& targets = {});
  // Before each round, on both sides: clears what is polled for.
  void prepare(const TestSpec& spec, int64_t size_bytes);

  // ---- for the loops

  struct Lane {
    QueuePairPtr qp;
    ibv_qp_ex* api = nullptr;  // of qp; null: it has only ibv_post_send
    AddressHandlePtr way;      // of datagrams
    uint32_t sequence = 0;
    LaneTarget target;
    int outstanding = 0;  // messages whose completion has not come
    int used_receives = 0;
  };
  std::vector<Lane>& lanes() { return lanes_; }
  // Queue pairs that one thread uses, with a queue of completions of their own.
  struct Group {
    ThreadDomain domain;  // empty where the device has none
    CompletionQueuePtr completions;
    size_t first = 0;  // of its lanes
    size_t count = 0;
    size_t end() const { return first + count; }
  };
  const std::vector<Group>& groups() const { return groups_; }
  const VerbTraits& verb() const { return *verb_; }
  const std::string& device() const { return device_.name(); }
  uint32_t yield_mask() const { return device_.yield_mask(); }
  int tx_depth() const { return tx_depth_; }
  int64_t post_list() const { return post_list_; }
  bool goes_inline(int64_t size_bytes) const { return size_bytes <= inline_bytes_; }
  ibv_cq* completions() const { return groups_.front().completions.get(); }  // of loops over one queue pair
  ibv_cq* arrivals() const { return arrivals_.get(); }                       // null where the verb takes no receives

  uint32_t remote_key() const { return region_.remote_key(); }  // of this end's memory, for the peer
  std::byte* send_area(size_t lane) const { return region_.data() + 2 * lane * span_bytes_; }
  std::byte* receive_area(size_t lane) const { return send_area(lane) + span_bytes_; }
  // A message of the verb, `offset` bytes into the lane's areas. `piece` stays where it is.
  ibv_send_wr request(size_t lane, int64_t size_bytes, uint64_t offset, ibv_sge& piece) const;
  // Posts a chain. An errno, as ibv_post_send.
  int post(size_t lane, ibv_send_wr* first) { return post_chain(lanes_[lane].qp.get(), lanes_[lane].api, first); }
  // Gives receives that were used back, when there are enough of them for one post.
  Result<void> return_receives(size_t lane);
  Error completion_error(const ibv_wc& completion, std::string_view operation) const;

 private:
  explicit RdmaLink(Device device) : device_(std::move(device)) {}
  Result<void> create_groups(const TestSpec& spec, Side side, const MakeQueue& make_queue);
  Result<void> create_lanes(const TestSpec& spec);
  Result<NewQueuePair> create_pair(int64_t number, const Group& group, const TestSpec& spec, uint32_t& wanted_inline);
  Result<void> agree(const RdmaAddress& remote);
  Result<void> post_receives(size_t lane, int count);
  void make_receives();

  Device device_;
  MemoryRegion region_;
  std::vector<Group> groups_;
  CompletionQueuePtr arrivals_;
  std::vector<Lane> lanes_;
  const VerbTraits* verb_ = nullptr;
  QueuePairPath path_;  // what all lanes have in common
  size_t span_bytes_ = 0;
  int64_t inline_bytes_ = 0;
  int tx_depth_ = 0;
  int64_t post_list_ = 0;
  int receive_depth_ = 0;
  int returned_at_once_ = 0;
  uint32_t q_key_ = 0;
  uint32_t reads_sent_ = 0;
  struct Receives {
    std::vector<ibv_recv_wr> requests;
    std::vector<ibv_sge> pieces;
  };
  std::vector<Receives> receives_;  // per lane, a chain of returned_at_once_
  RdmaAddress remote_;
};

}  // namespace railbed::perf
