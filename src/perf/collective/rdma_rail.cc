// SPDX-License-Identifier: Apache-2.0
// An RC queue pair to each peer. A segment is an RDMA write with immediate data, its number, into the peer's memory;
// the receive that it uses up there says that all of it is in that memory (ibv_reg_mr(3): also with relaxed ordering).
#include <algorithm>
#include <cerrno>
#include <deque>
#include <random>

#include <arpa/inet.h>
#include <sched.h>

#include "perf/collective/rail_links.h"
#include "perf/mesh/membership.h"
#include "perf/stream/device.h"
#include "perf/stream/free_memory.h"
#include "perf/stream/rdma_path.h"
#include "perf/yardstick.h"

namespace railbed::perf::collective {
namespace {

constexpr int kSendDepth = 128;
constexpr int kReceiveDepth = 256;  // a peer that is faster waits for a receive (RNR), and loses nothing
constexpr uint32_t kLookMask = 1023;

struct Posted {
  uint64_t at = 0;  // ticks
  uint32_t step = 0;
};
struct Arrived {
  uint32_t number = 0;
  uint32_t bytes = 0;
};

struct RdmaPeer {
  QueuePairPtr qp;
  uint32_t rank = 0;
  uint32_t sequence = 0;
  RdmaAddress remote;
  std::deque<Posted> under_way;
  std::deque<Arrived> arrived;
  uint64_t last_completion = 0;  // ticks
  uint32_t sent = 0;             // segments, which are numbered by it
  uint32_t received = 0;         // segments
};

TestSpec device_needs() {
  return {.kind = TestKind::kBandwidth, .sizes_bytes = {kElement_bytes}, .verb = RdmaVerb::kWriteImm};
}

class RdmaRail : public RailLinks {
 public:
  RdmaRail(RailRequest request, const TickClock& clock, Device device)
      : RailLinks(std::move(request), clock), device_(std::move(device)) {}

  Result<void> open() {
    region_ = TRY(device_.region({}, request_.areas * request_.area_bytes, IBV_ACCESS_REMOTE_WRITE));
    memory_ = region_.data();
    const auto peers = static_cast<int>(request_.peers.size());
    completions_ = TRY(device_.completion_queue(peers * kSendDepth));
    arrivals_ = TRY(device_.completion_queue(peers * kReceiveDepth));
    std::mt19937 random(std::random_device{}());
    for (const uint32_t rank : request_.peers) {
      RdmaPeer& peer = peers_.emplace_back();
      peer.rank = rank;
      peer.sequence = static_cast<uint32_t>(random() & 0xffffff);
      peer.qp = device_
                    .queue_pair(IBV_QPT_RC, {.sends = completions_.get(),
                                             .receives = arrivals_.get(),
                                             .send_depth = kSendDepth,
                                             .receive_depth = kReceiveDepth})
                    .pair;
      if (!peer.qp) return fail(system_error(errno, fmt::format("creating a queue pair on {}", device_.name())));
      TRY(initialise(peer.qp.get(),
                     {.port = device_.place().port.number, .access = IBV_ACCESS_REMOTE_WRITE, .q_key = {}},
                     device_.name()));
      for (int i = 0; i < kReceiveDepth; ++i) TRY(post_receive(peers_.size() - 1));
    }
    return {};
  }

  std::vector<LinkAddress> offers() const override {
    const RdmaPlace& place = device_.place();
    std::vector<LinkAddress> all;
    for (const RdmaPeer& peer : peers_)
      all.push_back({.peer = peer.rank,
                     .name = "",
                     .address = {},
                     .rdma = RdmaAddress{.gid = place.gid.entry.gid,
                                         .lid = place.port.lid,
                                         .mtu_bytes = static_cast<uint32_t>(place.port.mtu_bytes),
                                         .remote_key = region_.remote_key(),
                                         .address = reinterpret_cast<uintptr_t>(region_.data()),
                                         .pkey = device_.pkey(),
                                         .qps = {{peer.qp->qp_num, peer.sequence}}},
                     .tcp = {}});
    return all;
  }

  Result<void> connect(const std::vector<LinkAddress>& links) override {
    for (RdmaPeer& peer : peers_) {
      const LinkAddress& link = *TRY(link_to(links, peer.rank));
      names_[peer.rank] = link.name;
      if (!link.rdma)
        return fail(Code::kInvalid, "the coordinator does not send the queue pair of {}", name_of_peer(peer.rank));
      peer.remote = *link.rdma;
      if (!link.address)
        return fail(Code::kInvalid, "the coordinator does not send the address of {}", name_of_peer(peer.rank));
      const bool is_infiniband = device_.endpoint().link_layer == "InfiniBand";
      TRY(mesh::check_rdma_target(*link.address, peer.remote, is_infiniband).context("{}", name_of_peer(peer.rank)));
      QueuePairPath path;
      TRY(agree_on_path(device_, peer.remote, path).context("{}", name_of_peer(peer.rank)));
      path.remote_qp = peer.remote.qps.front().number;
      path.remote_sequence = peer.remote.qps.front().packet_sequence;
      path.local_sequence = peer.sequence;
      TRY(perf::connect(peer.qp.get(), path, device_.name()).context("{}", name_of_peer(peer.rank)));
    }
    return {};
  }

  Result<void> send(const Op& op, Span segment) override {
    RdmaPeer& peer = peer_of(op.peer);
    if (peer.under_way.size() >= kSendDepth) {
      const uint64_t began = clock_.now();
      TRY(poll_until(peer.rank, "no data was accepted by", [&] { return peer.under_way.size() < kSendDepth; }));
      note_waited(clock_.now() - began);
    }
    ibv_sge piece{.addr = reinterpret_cast<uintptr_t>(elements(op.own) + segment.first),
                  .length = static_cast<uint32_t>(segment.bytes()),
                  .lkey = region_.local_key()};
    ibv_send_wr request{};
    request.wr_id = static_cast<uint64_t>(&peer - peers_.data());
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.send_flags = IBV_SEND_SIGNALED;
    request.imm_data = htonl(peer.sent++);
    request.wr.rdma = {.remote_addr = peer.remote.address + static_cast<uint64_t>(op.at) * request_.area_bytes +
                                      segment.first * kElement_bytes,
                       .rkey = peer.remote.remote_key};
    ibv_send_wr* refused = nullptr;
    if (const int status = ibv_post_send(peer.qp.get(), &request, &refused); status != 0)
      return fail(
          system_error(status, fmt::format("posting a write to {} on {}", name_of_peer(op.peer), device_.name())));
    peer.under_way.push_back({clock_.now(), op.step});
    return {};
  }

  Result<uint64_t> receive(const Op& op, Span segment) override {
    RdmaPeer& peer = peer_of(op.peer);
    TRY(poll_until(op.peer, "no data arrived from", [&] { return !peer.arrived.empty(); }));
    const Arrived came = peer.arrived.front();
    peer.arrived.pop_front();
    if (came.number != peer.received || came.bytes != segment.bytes())
      return fail(Code::kInvalid, "{} sends segment {} of {} bytes, and segment {} of {} bytes was due",
                  name_of_peer(op.peer), came.number, came.bytes, peer.received, segment.bytes());
    ++peer.received;
    return 0;
  }

  Result<void> finish_sends() override {
    for (const RdmaPeer& peer : peers_)
      TRY(poll_until(peer.rank, "no data was accepted by", [&] { return peer.under_way.empty(); }));
    return {};
  }

 private:
  RdmaPeer& peer_of(uint32_t rank) { return *std::ranges::find(peers_, rank, &RdmaPeer::rank); }

  // A write with immediate data uses up a receive, and none of its memory.
  Result<void> post_receive(size_t place) {
    ibv_sge piece{.addr = reinterpret_cast<uintptr_t>(memory_), .length = 0, .lkey = region_.local_key()};
    ibv_recv_wr request{.wr_id = place, .next = nullptr, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* refused = nullptr;
    if (const int status = ibv_post_recv(peers_[place].qp.get(), &request, &refused); status != 0)
      return fail(system_error(status, fmt::format("posting a receive on {}", device_.name())));
    return {};
  }

  Result<int> poll_arrivals() {
    ibv_wc come[16];
    const int count = ibv_poll_cq(arrivals_.get(), std::size(come), come);
    if (count < 0) return fail(Code::kIo, "polling the queue of arrivals of {} failed", device_.name());
    for (int i = 0; i < count; ++i) {
      RdmaPeer& peer = peers_[come[i].wr_id];
      if (come[i].status != IBV_WC_SUCCESS)
        return fail(completion_failed(come[i].status, "receiving from " + name_of_peer(peer.rank), device_.name()));
      peer.arrived.push_back({ntohl(come[i].imm_data), come[i].byte_len});
      TRY(post_receive(come[i].wr_id));
    }
    return count;
  }

  Result<int> poll_completions() {
    ibv_wc done[16];
    const int count = ibv_poll_cq(completions_.get(), std::size(done), done);
    if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", device_.name());
    const uint64_t now = count > 0 ? clock_.now() : 0;
    for (int i = 0; i < count; ++i) {
      RdmaPeer& peer = peers_[done[i].wr_id];
      if (done[i].status != IBV_WC_SUCCESS)
        return fail(completion_failed(done[i].status, "writing to " + name_of_peer(peer.rank), device_.name()));
      const Posted posted = peer.under_way.front();
      peer.under_way.pop_front();
      // Behind another segment on the same link it was not yet on its way.
      note_sent(posted.step, now - std::max(posted.at, peer.last_completion));
      peer.last_completion = now;
    }
    return count;
  }

  template <typename Done>
  Result<void> poll_until(uint32_t peer, std::string_view what, const Done& done) {
    Wait wait(*this, peer, what);
    for (uint32_t polls = 1;; ++polls) {
      const int moved = TRY(poll_arrivals()) + TRY(poll_completions());
      if (done()) return {};
      if (moved > 0) wait.progress();
      if ((polls & device_.yield_mask()) == 0) sched_yield();
      if ((polls & kLookMask) == 0) TRY(wait.in_vain());
    }
  }

  // In the order in which they are made; the last goes first.
  Device device_;
  MemoryRegion region_;
  CompletionQueuePtr completions_;
  CompletionQueuePtr arrivals_;
  std::vector<RdmaPeer> peers_;
};

}  // namespace

Result<std::unique_ptr<RailLinks>> open_rdma_rail(os::Kernel& kernel, RailRequest request, const TickClock& clock,
                                                  mesh::RailFound& found) {
  RdmaPlace place =
      TRY(find_place(kernel, {.device = request.own.device, .gid_rule = request.gid_rule}, request.own.address));
  found.device = fmt::format("{}:{}", place.endpoint.device, place.endpoint.port);
  found.soft = place.endpoint.soft;
  found.carries_gbps = yardstick_gbps(place.endpoint, place.endpoint);
  TRY(need_memory(kernel.files(), static_cast<int64_t>(request.areas * request.area_bytes)));
  Device device = TRY(Device::open(kernel.files(), std::move(place), device_needs()));
  auto rail = std::make_unique<RdmaRail>(std::move(request), clock, std::move(device));
  TRY(rail->open());
  return rail;
}

}  // namespace railbed::perf::collective
