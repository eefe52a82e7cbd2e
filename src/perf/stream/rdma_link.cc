// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/rdma_link.h"

#include <algorithm>
#include <cerrno>
#include <random>

#include <unistd.h>

#include "perf/stream/free_memory.h"
#include "perf/stream/rdma_path.h"

namespace railbed::perf {
namespace {

constexpr uint32_t kWantedInline_bytes = 220;  // fits one more cache line on mlx5, like the usual tools
constexpr uint32_t kMostReads = 255;           // ibv_modify_qp has 8 bits for it

size_t whole_pages(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

size_t span_of(const TestSpec& spec) {
  const int64_t header = traits_of(spec.verb).is_datagram ? kGrh_bytes : 0;
  return whole_pages(static_cast<size_t>(std::ranges::max(spec.sizes_bytes) + header));
}

const MemoryChoice& memory_of(const TestSpec& spec, Side side) {
  return side == Side::kClient ? spec.memory : spec.remote_memory;
}

// What the peer may do to the memory: no more than the verb needs.
unsigned access_of(RdmaVerb verb) {
  switch (verb) {
    case RdmaVerb::kWrite:
    case RdmaVerb::kWriteImm:
      return IBV_ACCESS_REMOTE_WRITE;
    case RdmaVerb::kRead:
      return IBV_ACCESS_REMOTE_READ;
    case RdmaVerb::kFetchAdd:
      return IBV_ACCESS_REMOTE_ATOMIC;
    case RdmaVerb::kSend:
    case RdmaVerb::kSendUd:
      break;
  }
  return 0;
}

ibv_wr_opcode opcode_of(RdmaVerb verb) {
  switch (verb) {
    case RdmaVerb::kWriteImm:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case RdmaVerb::kRead:
      return IBV_WR_RDMA_READ;
    case RdmaVerb::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case RdmaVerb::kSend:
    case RdmaVerb::kSendUd:
      return IBV_WR_SEND;
    case RdmaVerb::kWrite:
      break;
  }
  return IBV_WR_RDMA_WRITE;
}

uint32_t wanted_inline(const TestSpec& spec, Side side) {
  if (!traits_of(spec.verb).sends_data || memory_of(spec, side).kind == MemoryKind::kGpu) return 0;
  if (spec.inline_bytes >= 0) return static_cast<uint32_t>(spec.inline_bytes);
  return spec.kind == TestKind::kLatency ? kWantedInline_bytes : 0;
}

}  // namespace

int64_t RdmaLink::memory_bytes(const TestSpec& spec, Side side) {
  return host_bytes(memory_of(spec, side), static_cast<int64_t>(2 * span_of(spec)) * spec.qps);
}

Result<RdmaLink> RdmaLink::open(const os::FileTree& files, RdmaPlace place, const TestSpec& spec, Side side,
                                const MakeQueue& make_queue) {
  const VerbTraits& verb = traits_of(spec.verb);
  const int64_t largest = std::ranges::max(spec.sizes_bytes);
  if (verb.is_datagram && largest > place.port.mtu_bytes)
    return fail(Code::kInvalid, "size: a UD send is one packet, and {} port {} carries {} in one, not {}",
                place.device.name(), place.port.number, size_text(place.port.mtu_bytes), size_text(largest));
  TRY(need_memory(files, memory_bytes(spec, side)));
  RdmaLink link(TRY(Device::open(files, std::move(place), spec)));
  link.verb_ = &verb;
  link.span_bytes_ = span_of(spec);
  link.tx_depth_ = static_cast<int>(spec.tx_depth);
  link.post_list_ = spec.post_list;
  link.path_.flow_label = static_cast<uint32_t>(spec.flow_label);
  link.path_.traffic_class = static_cast<int>(spec.traffic_class);
  link.path_.service_level = static_cast<int>(spec.service_level);
  link.inline_bytes_ = wanted_inline(spec, side);
  const size_t bytes = 2 * link.span_bytes_ * static_cast<size_t>(spec.qps);
  link.region_ = TRY(link.device_.region(memory_of(spec, side), bytes, access_of(spec.verb)));
  if (verb.answered_by == AnsweredBy::kDevice) {
    link.reads_sent_ = std::clamp(link.device_.limits().reads_sent, 1u, kMostReads);
    link.path_.reads_answered = std::clamp(link.device_.limits().reads_answered, 1u, kMostReads);
  }
  TRY(link.create_groups(spec, side, make_queue));
  TRY(link.create_lanes(spec));
  return link;
}

// Only who sends has work for more than one thread, and who waits in a way of its own has one.
Result<void> RdmaLink::create_groups(const TestSpec& spec, Side side, const MakeQueue& make_queue) {
  const bool sends = !make_queue && (side == Side::kClient || spec.bidirectional);
  const auto pairs = static_cast<size_t>(spec.qps);
  const auto threads = static_cast<size_t>(
      sends ? threads_for(spec, device_.place().device.is_soft() ? 1 : rdma::usable_processors()) : 1);
  Endpoint& end = device_.endpoint();
  end.threads = static_cast<int64_t>(threads);
  end.thread_domains = true;
  for (size_t i = 0; i < threads; ++i) {
    Group& group = groups_.emplace_back();
    group.first = i * pairs / threads;
    group.count = (i + 1) * pairs / threads - group.first;
    group.domain = device_.thread_domain();
    end.thread_domains = end.thread_domains && group.domain.parent != nullptr;
    const int entries = static_cast<int>(group.count) * (tx_depth_ + 1);
    group.completions = TRY(make_queue ? make_queue(device_, entries) : device_.completion_queue(entries));
  }
  return {};
}

Result<void> RdmaLink::create_lanes(const TestSpec& spec) {
  const auto pairs = static_cast<int>(spec.qps);
  if (verb_->takes_receives) {
    // Twice what is under way, so that the peer goes on while receives are given back.
    receive_depth_ = std::clamp(2 * tx_depth_, 64, 1024);
    returned_at_once_ = 16;
    arrivals_ = TRY(device_.completion_queue(pairs * receive_depth_));
  }
  std::mt19937 random(std::random_device{}());
  q_key_ = static_cast<uint32_t>(random()) & 0x7fffffff;  // the highest bit is for privileged keys
  QueuePairStart start{
      .port = device_.place().port.number, .pkey_index = spec.pkey_index, .access = access_of(spec.verb), .q_key = {}};
  if (verb_->is_datagram) start.q_key = q_key_;
  auto wanted_inline = static_cast<uint32_t>(inline_bytes_);
  bool has_api = true;
  for (const Group& group : groups_)
    for (size_t i = group.first; i < group.end(); ++i) {
      NewQueuePair made = TRY(create_pair(static_cast<int64_t>(i) + 1, group, spec, wanted_inline));
      TRY(initialise(made.pair.get(), start, device_.name()));
      has_api = has_api && made.api != nullptr;
      lanes_.push_back({.qp = std::move(made.pair),
                        .api = made.api,
                        .way = {},
                        .sequence = static_cast<uint32_t>(random() & 0xffffff),
                        .target = {}});
    }
  device_.endpoint().post = has_api ? "ibv_wr" : "ibv_post_send";
  if (!verb_->takes_receives) return {};
  make_receives();
  for (size_t i = 0; i < lanes_.size(); ++i)
    for (int posted = 0; posted < receive_depth_; posted += returned_at_once_)
      TRY(post_receives(i, std::min(returned_at_once_, receive_depth_ - posted)));
  return {};
}

// Devices differ in how much data they take inline, and the only way to find out is to ask for less until they accept.
Result<NewQueuePair> RdmaLink::create_pair(int64_t number, const Group& group, const TestSpec& spec, uint32_t& wanted) {
  QueueNeeds needs{.domain = group.domain.parent.get(),
                   .sends = group.completions.get(),
                   .receives = arrivals_ ? arrivals_.get() : group.completions.get(),
                   .send_depth = static_cast<uint32_t>(tx_depth_ + 1),
                   .receive_depth = static_cast<uint32_t>(std::max(1, receive_depth_)),
                   .inline_bytes = wanted,
                   .operations = send_operations_of(opcode_of(verb_->verb))};
  const ibv_qp_type type = verb_->is_datagram ? IBV_QPT_UD : IBV_QPT_RC;
  NewQueuePair made = device_.queue_pair(type, needs);
  while (!made.pair && errno == EINVAL && wanted > 0 && spec.inline_bytes <= 0) {
    wanted /= 2;
    needs.inline_bytes = wanted;
    made = device_.queue_pair(type, needs);
  }
  if (!made.pair) {
    Error error = system_error(errno, fmt::format("creating queue pair {} of {} on {} (depth {}, inline {} bytes)",
                                                  number, spec.qps, device_.name(), tx_depth_, wanted));
    error.hint = "the device may allow less: lower --tx-depth, --qps or --inline";
    return fail(std::move(error));
  }
  // Devices round up what they were asked for; what the user has forbidden stays so.
  inline_bytes_ = std::min(made.inline_granted, wanted);
  return made;
}

void RdmaLink::make_receives() {
  const auto count = static_cast<size_t>(returned_at_once_);
  receives_.resize(lanes_.size());
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    Receives& own = receives_[lane];
    own.requests.resize(count);
    own.pieces.resize(count);
    for (size_t i = 0; i < count; ++i) {
      own.pieces[i] = {.addr = reinterpret_cast<uintptr_t>(receive_area(lane)),
                       .length = static_cast<uint32_t>(span_bytes_),
                       .lkey = region_.local_key()};
      own.requests[i] = {.wr_id = lane,
                         .next = i + 1 < count ? &own.requests[i + 1] : nullptr,
                         .sg_list = &own.pieces[i],
                         .num_sge = 1};
    }
  }
}

// Posts the last `count` of the lane's chain.
Result<void> RdmaLink::post_receives(size_t lane, int count) {
  ibv_recv_wr* first = &receives_[lane].requests[static_cast<size_t>(returned_at_once_ - count)];
  ibv_recv_wr* refused = nullptr;
  if (const int status = ibv_post_recv(lanes_[lane].qp.get(), first, &refused); status != 0)
    return fail(system_error(status, fmt::format("posting {} receives on {}", count, device_.name())));
  return {};
}

Result<void> RdmaLink::return_receives(size_t lane) {
  while (lanes_[lane].used_receives >= returned_at_once_) {
    lanes_[lane].used_receives -= returned_at_once_;
    TRY(post_receives(lane, returned_at_once_));
  }
  return {};
}

RdmaAddress RdmaLink::address() const {
  const RdmaPlace& place = device_.place();
  RdmaAddress address{.gid = place.gid.entry.gid,
                      .lid = place.port.lid,
                      .mtu_bytes = static_cast<uint32_t>(place.port.mtu_bytes),
                      .remote_key = region_.remote_key(),
                      .address = reinterpret_cast<uintptr_t>(region_.data()),
                      .pkey = device_.pkey(),
                      .q_key = q_key_,
                      .reads_answered = path_.reads_answered,
                      .qps = {}};
  for (const Lane& lane : lanes_) address.qps.push_back({lane.qp->qp_num, lane.sequence});
  return address;
}

// What both ends together allow.
Result<void> RdmaLink::agree(const RdmaAddress& remote) {
  if (remote.qps.size() != lanes_.size())
    return fail(Code::kInvalid, "the peer offers {} queue pairs, expected {}", remote.qps.size(), lanes_.size());
  TRY(agree_on_path(device_, remote, path_));
  Endpoint& end = device_.endpoint();
  end.path_mtu_bytes = path_.mtu_bytes;
  if (!path_.is_global && (path_.flow_label != 0 || path_.traffic_class != 0))
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("{}: within a subnet of InfiniBand packets go by LID and have no GRH, "
                                             "which would carry it",
                                             path_.flow_label != 0 ? "flow-label" : "traffic-class"),
                      .hint = "choose the virtual lane with --service-level"});
  path_.reads_sent = 1;
  if (reads_sent_ > 0) {
    path_.reads_sent = std::clamp(std::min(reads_sent_, remote.reads_answered), 1u, kMostReads);
    end.read_depth = path_.reads_sent;
  }
  return {};
}

Result<void> RdmaLink::connect(const RdmaAddress& remote, const std::vector<LaneTarget>& targets) {
  TRY(agree(remote));
  remote_ = remote;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    // A read takes from where the peer sends; all others go to where it receives.
    const uint64_t area = 2 * i + (verb_->verb == RdmaVerb::kRead ? 0 : 1);
    lanes_[i].target =
        targets.empty() ? LaneTarget{remote.address + area * span_bytes_, remote.remote_key} : targets[i];
    QueuePairPath path = path_;
    path.remote_qp = remote.qps[i].number;
    path.remote_sequence = remote.qps[i].packet_sequence;
    path.local_sequence = lanes_[i].sequence;
    if (verb_->is_datagram)
      lanes_[i].way = TRY(connect_datagrams(lanes_[i].qp.get(), path, device_.name()).context("queue pair {}", i + 1));
    else
      TRY(perf::connect(lanes_[i].qp.get(), path, device_.name()).context("queue pair {}", i + 1));
  }
  return {};
}

void RdmaLink::prepare(const TestSpec& spec, int64_t size_bytes) {
  // Only this loop looks at memory, and no other memory than the machine's is allowed for it.
  if (spec.kind == TestKind::kLatency && verb_->verb == RdmaVerb::kWrite)
    reinterpret_cast<volatile uint8_t*>(receive_area(0))[size_bytes - 1] = 0;
}

ibv_send_wr RdmaLink::request(size_t lane, int64_t size_bytes, uint64_t offset, ibv_sge& piece) const {
  const bool reads = !verb_->sends_data;  // what comes back lies in the receiving area
  piece = {.addr = reinterpret_cast<uintptr_t>(reads ? receive_area(lane) : send_area(lane)) + offset,
           .length = static_cast<uint32_t>(size_bytes),
           .lkey = region_.local_key()};
  const LaneTarget& target = lanes_[lane].target;
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode_of(verb_->verb);
  request.send_flags = goes_inline(size_bytes) ? IBV_SEND_INLINE : 0;
  if (verb_->is_datagram) {
    request.wr.ud = {
        .ah = lanes_[lane].way.get(), .remote_qpn = remote_.qps[lane].number, .remote_qkey = remote_.q_key};
  } else if (verb_->verb == RdmaVerb::kFetchAdd) {
    request.wr.atomic = {.remote_addr = target.address + offset, .compare_add = 1, .swap = 0, .rkey = target.key};
  } else if (verb_->verb != RdmaVerb::kSend) {
    request.wr.rdma = {.remote_addr = target.address + offset, .rkey = target.key};
  }
  return request;
}

Error RdmaLink::completion_error(const ibv_wc& completion, std::string_view operation) const {
  return completion_failed(completion.status, operation, device_.name());
}

}  // namespace railbed::perf
