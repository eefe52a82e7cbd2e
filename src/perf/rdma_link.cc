// SPDX-License-Identifier: Apache-2.0
#include "perf/rdma_link.h"

#include <algorithm>
#include <cerrno>
#include <random>

#include <sched.h>
#include <unistd.h>

#include "perf/free_memory.h"

namespace railbed::perf {
namespace {

constexpr uint32_t kWantedInline_bytes = 220;  // fits one more cache line on mlx5, like the usual tools

// A soft device runs in kernel threads on this machine's processors: with few of them, a loop that never yields takes
// the time that its own traffic needs. A NIC needs no processor, so polling never yields there.
uint32_t yield_mask_for(bool soft) {
  return soft ? 15 : UINT32_MAX;
}

size_t whole_pages(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

Result<RdmaLink> RdmaLink::open(const os::FileTree& files, RdmaPlace place, const TestSpec& spec) {
  RdmaLink link(std::move(place));
  const std::string& device = link.place_.device.name();
  link.domain_.reset(ibv_alloc_pd(link.place_.device.context()));
  if (!link.domain_) return fail(system_error(errno, fmt::format("allocating a protection domain of {}", device)));
  const int64_t largest = *std::max_element(spec.sizes_bytes.begin(), spec.sizes_bytes.end());
  link.span_bytes_ = whole_pages(static_cast<size_t>(largest));
  const size_t bytes = 2 * link.span_bytes_ * static_cast<size_t>(spec.qps);
  TRY(need_memory(files, static_cast<int64_t>(bytes)));
  link.region_ = TRY(MemoryRegion::create(link.domain_.get(), bytes, device));
  link.yield_mask_ = yield_mask_for(link.place_.device.is_soft());
  link.tx_depth_ = static_cast<int>(spec.tx_depth);
  TRY(link.create_lanes(spec));
  return link;
}

Result<void> RdmaLink::create_lanes(const TestSpec& spec) {
  const std::string& device = place_.device.name();
  ibv_context* context = place_.device.context();
  const int entries = static_cast<int>(spec.qps) * (tx_depth_ + 1);
  completions_.reset(ibv_create_cq(context, entries, nullptr, nullptr, 0));
  if (!completions_) {
    Error error = system_error(errno, fmt::format("creating a completion queue of {} entries on {}", entries, device));
    error.hint = "the device may allow fewer: lower --tx-depth or --qps";
    return fail(std::move(error));
  }
  const bool latency = spec.kind == TestKind::kLatency;
  uint32_t wanted_inline = latency ? kWantedInline_bytes : 0;
  if (spec.inline_bytes >= 0) wanted_inline = static_cast<uint32_t>(spec.inline_bytes);
  std::mt19937 random(std::random_device{}());
  for (int64_t i = 0; i < spec.qps; ++i) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = completions_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = static_cast<uint32_t>(tx_depth_ + 1),
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = wanted_inline};
    QueuePairPtr qp(ibv_create_qp(domain_.get(), &attributes));
    // Devices differ in how much data they take inline, and the only way to find out is to ask for less until they
    // accept.
    for (; !qp && errno == EINVAL && wanted_inline > 0; qp.reset(ibv_create_qp(domain_.get(), &attributes))) {
      if (spec.inline_bytes > 0) break;
      wanted_inline /= 2;
      attributes.cap.max_inline_data = wanted_inline;
    }
    if (!qp) {
      Error error = system_error(errno, fmt::format("creating queue pair {} of {} on {} (depth {}, inline {} bytes)",
                                                    i + 1, spec.qps, device, tx_depth_, wanted_inline));
      error.hint = "the device may allow less: lower --tx-depth, --qps or --inline";
      return fail(std::move(error));
    }
    // Devices round up what they were asked for; what the user has forbidden stays so.
    inline_bytes_ = std::min(attributes.cap.max_inline_data, wanted_inline);
    TRY(initialise(qp.get(), place_.port.number, device));
    lanes_.push_back({.qp = std::move(qp), .sequence = static_cast<uint32_t>(random() & 0xffffff), .outstanding = 0});
  }
  return {};
}

RdmaAddress RdmaLink::address() const {
  RdmaAddress address{.gid = place_.gid.entry.gid,
                      .lid = place_.port.lid,
                      .mtu_bytes = static_cast<uint32_t>(place_.port.mtu_bytes),
                      .remote_key = region_.remote_key(),
                      .address = reinterpret_cast<uintptr_t>(region_.data()),
                      .qps = {}};
  for (const Lane& lane : lanes_) address.qps.push_back({lane.qp->qp_num, lane.sequence});
  return address;
}

Result<void> RdmaLink::connect(const RdmaAddress& remote) {
  if (remote.qps.size() != lanes_.size())
    return fail(Code::kInvalid, "the peer offers {} queue pairs, {} are wanted", remote.qps.size(), lanes_.size());
  remote_ = remote;
  const int mtu = std::min(place_.port.mtu_bytes, static_cast<int>(remote.mtu_bytes));
  place_.endpoint.path_mtu_bytes = mtu;
  const Gid& own = place_.gid.entry.gid;
  // Within an InfiniBand subnet the LID is enough to reach the peer.
  const bool same_subnet =
      place_.port.is_infiniband && own.subnet_prefix() == remote.gid.subnet_prefix() && remote.lid != 0;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const QueuePairPath path{.remote_gid = remote.gid,
                             .gid_index = place_.gid.entry.index,
                             .port = place_.port.number,
                             .remote_lid = remote.lid,
                             .remote_qp = remote.qps[i].number,
                             .remote_sequence = remote.qps[i].packet_sequence,
                             .local_sequence = lanes_[i].sequence,
                             .mtu_bytes = mtu,
                             .is_global = !same_subnet};
    TRY(perf::connect(lanes_[i].qp.get(), path, place_.device.name()).context("queue pair {}", i + 1));
  }
  return {};
}

Error RdmaLink::completion_error(const ibv_wc& completion, std::string_view operation) const {
  return completion_failed(completion.status, operation, place_.device.name());
}

}  // namespace railbed::perf
