// SPDX-License-Identifier: Apache-2.0
// One end of a ping's connection: queue pair, memory, and the four operations of the exchange.
//
// Why: messages, READs and WRITEs are timed here with the same clock (tick_clock.h), from before the post until polling
// finds their completion.
// Threading: one thread per instance.
// Failure: as verbs.h; kTimeout without a completion for `patience`; the error of `look`, which is called about a
// hundred times a second while it waits.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <span>

#include "perf/ping/cm.h"
#include "perf/ping/rping_wire.h"
#include "perf/stream/verbs.h"
#include "perf/tick_clock.h"

namespace railbed::perf {

// The source lets the peer reach its memory; the mover READs and WRITEs.
enum class PingRole : uint8_t { kSource, kMover };

struct PingEndOptions {
  PingRole role = PingRole::kMover;
  std::chrono::milliseconds patience{10000};
  // Ends a wait by failing; may itself wait for so long, for what says why a request failed.
  std::function<Result<void>(std::chrono::milliseconds wait)> look;
};

class PingEnd {
 public:
  // `id` has a device: its address was resolved, or it came with a request. It gets the queue pair, and stays the
  // caller's.
  static Result<std::unique_ptr<PingEnd>> open(rdma_cm_id& id, const TickClock& clock, PingEndOptions options);
  ~PingEnd();
  PingEnd(const PingEnd&) = delete;
  PingEnd& operator=(const PingEnd&) = delete;

  const std::string& device() const { return device_; }
  bool is_soft() const { return soft_; }
  // What the peer may read, or what was read; and what it may write.
  std::span<std::byte> outgoing(size_t size_bytes) const { return {data_.data(), size_bytes}; }
  std::span<std::byte> incoming(size_t size_bytes) const { return {data_.data() + kMostPing_bytes, size_bytes}; }

  uint64_t now() const { return clock_.now(); }
  uint64_t since_ns(uint64_t began) const { return clock_.between_ns(began, clock_.now()); }

  // Sends where `area`, of this end, lies.
  Result<void> advertise(std::span<std::byte> area) {
    return send({address_of(area), data_.remote_key(), bytes(area)});
  }
  Result<void> go_ahead() { return send({0, 0, kMostPing_bytes}); }
  // Waits for the peer's next message.
  Result<void> await_go_ahead();
  Result<Advert> await_advert();
  // Moves data between the outgoing area and the peer's; return when they are complete.
  Result<void> read(const Advert& from) { return move(IBV_WR_RDMA_READ, Operation::kRead, from); }
  Result<void> write(const Advert& to) { return move(IBV_WR_RDMA_WRITE, Operation::kWrite, to); }
  uint32_t last_moved_bytes() const { return last_moved_bytes_; }
  // Until all that was sent is acknowledged.
  Result<void> finish_sends();

 private:
  enum class Operation : uint8_t { kSend, kReceive, kRead, kWrite };
  static constexpr size_t kReceives = 2;  // as many as rping has
  static constexpr uint32_t kSends = 16;

  PingEnd(rdma_cm_id& id, const TickClock& clock, PingEndOptions options)
      : id_(id), clock_(clock), options_(std::move(options)) {}
  Result<void> make();
  static uint64_t address_of(std::span<std::byte> area) { return reinterpret_cast<uintptr_t>(area.data()); }
  static uint32_t bytes(std::span<std::byte> area) { return static_cast<uint32_t>(area.size()); }
  Result<void> post_receive(size_t slot);
  Result<void> send(const Advert& advert);
  Result<void> move(ibv_wr_opcode opcode, Operation operation, const Advert& remote);
  Result<void> post(ibv_send_wr& request, Operation operation);
  // Takes what is complete.
  Result<void> poll();
  Result<void> await(Operation operation);
  Error failed(const ibv_wc& completion) const;

  rdma_cm_id& id_;
  const TickClock& clock_;
  PingEndOptions options_;
  std::string device_;
  bool soft_ = false;
  DomainPtr domain_;
  CompletionQueuePtr queue_;
  MemoryRegion messages_;  // one to send from, then the receives
  MemoryRegion data_;
  struct Arrival {
    size_t slot;
    size_t bytes;
  };
  std::deque<Arrival> arrivals_;  // at most kReceives
  std::array<int, 4> done_{};     // by operation, and not waited for yet
  int sends_under_way_ = 0;
  uint32_t last_moved_bytes_ = 0;
};

}  // namespace railbed::perf
