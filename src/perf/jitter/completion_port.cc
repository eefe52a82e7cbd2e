// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/completion_port.h"

#include <cerrno>

#include <fcntl.h>

namespace railbed::perf {

std::string_view name_of(ProbeClock clock) {
  return kProbeClockNames[static_cast<size_t>(clock)];
}

CompletionPort::~CompletionPort() = default;

MakeQueue CompletionPort::maker() {
  return [this](const Device& device, int entries) { return make(device, entries); };
}

Result<CompletionQueuePtr> CompletionPort::make(const Device& device, int entries) {
  ibv_context* context = device.place().device.context();
  device_ = device.name();
  channel_.reset(ibv_create_comp_channel(context));
  if (!channel_) return fail(system_error(errno, fmt::format("creating a completion channel on {}", device_)));
  const int flags = fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0) return fail(system_error(errno, "fcntl"));
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = static_cast<uint32_t>(entries);
  wanted.channel = channel_.get();
  wanted.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  // Soft devices, and drivers that have no clock to read, refuse it.
  extended_ = ibv_create_cq_ex(context, &wanted);
  queue_ =
      extended_ != nullptr ? ibv_cq_ex_to_cq(extended_) : ibv_create_cq(context, entries, nullptr, channel_.get(), 0);
  if (queue_ == nullptr) return fail(system_error(errno, fmt::format("creating a completion queue on {}", device_)));
  return CompletionQueuePtr(queue_);
}

Result<void> CompletionPort::arm() {
  if (const int status = ibv_req_notify_cq(queue_, 0); status != 0)
    return fail(system_error(status, fmt::format("requesting completion notifications from {}", device_)));
  return {};
}

void CompletionPort::take_event() {
  ibv_cq* queue = nullptr;
  void* cookie = nullptr;
  if (ibv_get_cq_event(channel_.get(), &queue, &cookie) == 0) ibv_ack_cq_events(queue, 1);
}

Result<std::optional<Arrival>> CompletionPort::poll() {
  Arrival arrival;
  if (extended_ == nullptr) {
    const int count = ibv_poll_cq(queue_, 1, &arrival.completion);
    if (count < 0) return fail(Code::kIo, "polling the completion queue of {} failed", device_);
    return count == 0 ? std::optional<Arrival>() : arrival;
  }
  ibv_poll_cq_attr none{};
  const int status = ibv_start_poll(extended_, &none);
  if (status == ENOENT) return std::nullopt;
  if (status != 0) return fail(system_error(status, fmt::format("polling the completion queue of {}", device_)));
  arrival.completion.status = extended_->status;
  arrival.completion.wr_id = extended_->wr_id;
  arrival.device_ns = ibv_wc_read_completion_wallclock_ns(extended_);
  ibv_end_poll(extended_);
  return arrival;
}

}  // namespace railbed::perf
