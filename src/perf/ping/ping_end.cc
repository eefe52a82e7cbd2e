// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/ping_end.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>

namespace railbed::perf {
namespace {

constexpr size_t kSlot_bytes = 64;  // a cache line for each message
constexpr uint32_t kYieldEvery = 16;
constexpr uint32_t kClockEvery = 256;  // polls in vain between two looks at the clock
constexpr std::chrono::milliseconds kEventAfterError{100};
constexpr uint64_t kLookForStop_ns = 10'000'000;

constexpr std::string_view kOperations[] = {"a message", "receiving a message", "an RDMA read", "an RDMA write"};

}  // namespace

Result<std::unique_ptr<PingEnd>> PingEnd::open(rdma_cm_id& id, const TickClock& clock, PingEndOptions options) {
  std::unique_ptr<PingEnd> end(new PingEnd(id, clock, std::move(options)));
  TRY(end->make());
  return end;
}

// The queue pair goes first: it uses what follows.
PingEnd::~PingEnd() {
  if (id_.qp == nullptr) return;
  rdma_destroy_qp(&id_);
  id_.qp = nullptr;
}

Result<void> PingEnd::make() {
  device_ = ibv_get_device_name(id_.verbs->device);
  soft_ = TRY(RdmaDevice::open(device_)).is_soft();
  domain_.reset(ibv_alloc_pd(id_.verbs));
  if (!domain_) return fail(system_error(errno, fmt::format("allocating a protection domain of {}", device_)));
  queue_.reset(ibv_create_cq(id_.verbs, static_cast<int>(kSends + kReceives), nullptr, nullptr, 0));
  if (!queue_) return fail(system_error(errno, fmt::format("creating a completion queue on {}", device_)));
  const unsigned remote =
      options_.role == PingRole::kSource ? unsigned{IBV_ACCESS_REMOTE_READ} | IBV_ACCESS_REMOTE_WRITE : 0u;
  std::unique_ptr<Memory> memory = TRY(get_memory({}, (1 + kReceives) * kSlot_bytes));
  messages_ = TRY(MemoryRegion::create(domain_.get(), std::move(memory), IBV_ACCESS_LOCAL_WRITE, device_));
  memory = TRY(get_memory({}, size_t{2} * kMostPing_bytes));
  data_ = TRY(MemoryRegion::create(domain_.get(), std::move(memory), IBV_ACCESS_LOCAL_WRITE | remote, device_));
  ibv_qp_init_attr attributes{};
  attributes.send_cq = queue_.get();
  attributes.recv_cq = queue_.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap = {
      .max_send_wr = kSends, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  if (rdma_create_qp(&id_, domain_.get(), &attributes) != 0)
    return fail(system_error(errno, fmt::format("creating a queue pair on {}", device_)));
  for (size_t slot = 0; slot < kReceives; ++slot) TRY(post_receive(slot));
  return {};
}

Result<void> PingEnd::post_receive(size_t slot) {
  ibv_sge piece{.addr = reinterpret_cast<uintptr_t>(messages_.data() + (1 + slot) * kSlot_bytes),
                .length = kSlot_bytes,
                .lkey = messages_.local_key()};
  ibv_recv_wr request{.wr_id = slot, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  ibv_recv_wr* refused = nullptr;
  if (const int status = ibv_post_recv(id_.qp, &request, &refused); status != 0)
    return fail(system_error(status, fmt::format("posting a receive on {}", device_)));
  return {};
}

Result<void> PingEnd::post(ibv_send_wr& request, Operation operation) {
  // Receives have the low ids.
  request.wr_id = kReceives + static_cast<uint64_t>(operation);
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  if (const int status = ibv_post_send(id_.qp, &request, &refused); status != 0)
    return fail(
        system_error(status, fmt::format("posting {} on {}", kOperations[static_cast<size_t>(operation)], device_)));
  return {};
}

Result<void> PingEnd::send(const Advert& advert) {
  // The place of the message is free when the one before it is acknowledged.
  TRY(finish_sends());
  const auto bytes_sent = encode(advert);
  std::memcpy(messages_.data(), bytes_sent.data(), bytes_sent.size());
  ibv_sge piece{
      .addr = reinterpret_cast<uintptr_t>(messages_.data()), .length = kAdvert_bytes, .lkey = messages_.local_key()};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  TRY(post(request, Operation::kSend));
  ++sends_under_way_;
  return {};
}

Result<void> PingEnd::finish_sends() {
  for (; sends_under_way_ > 0; --sends_under_way_) TRY(await(Operation::kSend));
  return {};
}

Result<void> PingEnd::move(ibv_wr_opcode opcode, Operation operation, const Advert& remote) {
  last_moved_bytes_ = std::min(remote.size_bytes, kMostPing_bytes);
  ibv_sge piece{
      .addr = reinterpret_cast<uintptr_t>(data_.data()), .length = last_moved_bytes_, .lkey = data_.local_key()};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma = {.remote_addr = remote.address, .rkey = remote.key};
  TRY(post(request, operation));
  return await(operation);
}

Result<Advert> PingEnd::await_advert() {
  TRY(await(Operation::kReceive));
  const Arrival arrival = arrivals_.front();
  arrivals_.pop_front();
  const std::byte* slot = messages_.data() + (1 + arrival.slot) * kSlot_bytes;
  auto advert = decode_advert(std::span<const std::byte, kAdvert_bytes>(slot, kAdvert_bytes), arrival.bytes);
  TRY(post_receive(arrival.slot));
  return advert;
}

Result<void> PingEnd::await_go_ahead() {
  TRY(await(Operation::kReceive));
  const Arrival arrival = arrivals_.front();
  arrivals_.pop_front();
  if (arrival.bytes != kAdvert_bytes)
    return fail(Code::kInvalid, "the peer sent a message of {} bytes where {} were due", arrival.bytes, kAdvert_bytes);
  return post_receive(arrival.slot);
}

Error PingEnd::failed(const ibv_wc& completion) const {
  const std::string_view operation = completion.wr_id < kReceives
                                         ? kOperations[static_cast<size_t>(Operation::kReceive)]
                                         : kOperations[(completion.wr_id - kReceives) % std::size(kOperations)];
  return completion_failed(completion.status, operation, device_);
}

Result<void> PingEnd::poll() {
  ibv_wc done{};
  const int count = ibv_poll_cq(queue_.get(), 1, &done);
  if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", device_);
  if (count == 0) return {};
  if (done.status != IBV_WC_SUCCESS) return fail(failed(done));
  if (done.wr_id < kReceives) {
    arrivals_.push_back({static_cast<size_t>(done.wr_id), done.byte_len});
    ++done_[static_cast<size_t>(Operation::kReceive)];
  } else {
    ++done_[(done.wr_id - kReceives) % done_.size()];
  }
  return {};
}

Result<void> PingEnd::await(Operation operation) {
  int& done = done_[static_cast<size_t>(operation)];
  uint64_t began = 0;
  uint64_t next_look_ns = kLookForStop_ns;
  for (uint32_t polls = 1; done == 0; ++polls) {
    if (auto polled = poll(); !polled) {
      // What ended the connection says more than that its requests were given back, and may come a little later.
      if (options_.look) TRY(options_.look(kEventAfterError));
      return polled;
    }
    if (done != 0) break;
    if (soft_ && polls % kYieldEvery == 0) sched_yield();
    if (polls % kClockEvery != 0) continue;
    if (began == 0) began = clock_.now();
    const uint64_t waited_ns = since_ns(began);
    if (waited_ns < next_look_ns) continue;
    next_look_ns = waited_ns + kLookForStop_ns;
    if (options_.look) TRY(options_.look(std::chrono::milliseconds(0)));
    if (waited_ns / 1'000'000 >= static_cast<uint64_t>(options_.patience.count()))
      return fail(Code::kTimeout, "{} on {}: no data for {} ms", kOperations[static_cast<size_t>(operation)], device_,
                  options_.patience.count());
  }
  --done;
  return {};
}

}  // namespace railbed::perf
