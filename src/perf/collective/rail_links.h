// SPDX-License-Identifier: Apache-2.0
// One rank's links to its peers on one rail, and the memory that data is received in.
//
// Why: the order of an all-reduce (schedule.h) is the same for all transports: RDMA writes whose immediate data
// announces a part (rdma_rail.h), or sockets (tcp_rail.h). Parts are sent in segments, numbered on each link, so that a
// lost, duplicated or reordered one is detected and never added. Order: open, exchange offers() through the
// coordinator, connect(), then any number of all-reduces.
// Threading: the thread that opened it.
// Failure: kCanceled after a stop, kTimeout with the peer's name if there is no progress for `stall`, kInvalid if a
// peer sends what is not expected, kIo if the link failed.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "os/ports/kernel.h"
#include "perf/channel/watch.h"
#include "perf/collective/collective_message.h"
#include "perf/stream/memory.h"
#include "perf/tick_clock.h"
#include "rdma/gid.h"

namespace railbed::perf::collective {

struct RailRequest {
  mesh::OwnRail own;
  uint32_t rank = 0;
  std::vector<uint32_t> peers;
  size_t areas = kRingAreas;
  uint64_t area_bytes = 0;  // whole pages
  rdma::GidRule gid_rule;
  uint16_t data_port = 0;  // of sockets; 0: any free one
  perf::Limits limits;
  std::stop_token stop;
};

class RailLinks {
 public:
  virtual ~RailLinks() = default;
  RailLinks(const RailLinks&) = delete;
  RailLinks& operator=(const RailLinks&) = delete;

  virtual std::vector<LinkAddress> offers() const = 0;
  virtual Result<void> connect(const std::vector<LinkAddress>& links) = 0;

  // Begins to send a segment of an op. Waits only while too many are under way.
  virtual Result<void> send(const Op& op, Span segment) = 0;
  // Until the segment lies where the op says. In ticks, how long it took from its first byte to its last; 0 where that
  // cannot be seen.
  virtual Result<uint64_t> receive(const Op& op, Span segment) = 0;
  // Until everything that was sent is out of this rank's memory.
  virtual Result<void> finish_sends() = 0;

  float* elements(Area area) const {
    return reinterpret_cast<float*>(memory_ + static_cast<size_t>(area) * request_.area_bytes);
  }
  const TickClock& clock() const { return clock_; }
  // Since it was last asked: how long each step's sends took, and how long send() waited. Ticks.
  struct Sending {
    std::vector<uint64_t> steps;
    uint64_t waited = 0;
  };
  Sending take_sending(size_t steps);

 protected:
  RailLinks(RailRequest request, const TickClock& clock) : request_(std::move(request)), clock_(clock) {}
  std::string name_of_peer(uint32_t peer) const;
  // For what is polled: fails when it has been polled in vain for too long, or must stop.
  class Wait;
  void note_sent(uint32_t step, uint64_t ticks);
  void note_waited(uint64_t ticks) { sending_.waited += ticks; }

  RailRequest request_;
  const TickClock& clock_;
  std::byte* memory_ = nullptr;
  std::map<uint32_t, std::string> names_;  // of peers

 private:
  Sending sending_;
};

class RailLinks::Wait {
 public:
  // `peer`: whose data, or whose taking of it, is awaited.
  Wait(const RailLinks& rail, uint32_t peer, std::string_view what)
      : rail_(rail), peer_(peer), what_(what), last_progress_(rail.clock_.now()) {}
  void progress() { last_progress_ = rail_.clock_.now(); }
  Result<void> in_vain();  // once in a while

 private:
  const RailLinks& rail_;
  uint32_t peer_;
  std::string_view what_;
  uint64_t last_progress_;
};

// The error of an answer without a link that is due.
Result<const LinkAddress*> link_to(const std::vector<LinkAddress>& links, uint32_t peer);

Result<std::unique_ptr<RailLinks>> open_tcp_rail(os::Kernel& kernel, RailRequest request, const TickClock& clock);
// `found` gets what the device is.
Result<std::unique_ptr<RailLinks>> open_rdma_rail(os::Kernel& kernel, RailRequest request, const TickClock& clock,
                                                  mesh::RailFound& found);

}  // namespace railbed::perf::collective
