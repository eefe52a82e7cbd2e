// SPDX-License-Identifier: Apache-2.0
// A completion queue that a thread can sleep on, with the device's own time of each completion if it has one.
//
// Why: a probe every millisecond does not justify a busy processor, so its answer is awaited on the completion channel;
// the delay until this thread runs is the host's part, and only a clock in the device can separate it from the
// network's.
// Threading: one owner.
// Failure: as verbs.h.
// Source: ibv_create_cq_ex(3), ibv_get_cq_event(3).
#pragma once

#include <optional>
#include <string_view>

#include "perf/stream/device.h"
#include "perf/stream/rdma_link.h"

namespace railbed::perf {

// Of what completions are stamped with.
enum class ProbeClock : uint8_t { kSoftware, kDevice };
inline constexpr std::string_view kProbeClockNames[] = {"software", "device"};
std::string_view name_of(ProbeClock clock);

struct Arrival {
  ibv_wc completion{};                // status and id
  std::optional<uint64_t> device_ns;  // nanoseconds of the device's clock, from any start
};

class CompletionPort {
 public:
  CompletionPort() = default;
  ~CompletionPort();
  CompletionPort(const CompletionPort&) = delete;
  CompletionPort& operator=(const CompletionPort&) = delete;

  // Makes the queue that a link is opened with, once; it is the link's, and this object's channel outlives it.
  MakeQueue maker();
  ProbeClock clock() const { return extended_ != nullptr ? ProbeClock::kDevice : ProbeClock::kSoftware; }
  int fd() const { return channel_->fd; }  // readable when something came since arm()

  Result<void> arm();
  // Takes the event for which fd() became readable.
  void take_event();
  Result<std::optional<Arrival>> poll();

 private:
  Result<CompletionQueuePtr> make(const Device& device, int entries);

  std::unique_ptr<ibv_comp_channel, VerbsClose<ibv_destroy_comp_channel>> channel_;
  ibv_cq* queue_ = nullptr;        // the link's
  ibv_cq_ex* extended_ = nullptr;  // the same, where the device stamps
  std::string device_;
};

}  // namespace railbed::perf
