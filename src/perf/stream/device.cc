// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/device.h"

#include <cerrno>

namespace railbed::perf {
namespace {

constexpr uint32_t kYieldMask = 15;

// A soft device runs in kernel threads on this machine's processors: with few of them, a loop that never yields takes
// the time that its own traffic needs. A NIC needs no processor, so polling does not yield there unless it is asked to.
bool yields(Choice choice, bool soft) {
  return choice == Choice::kOn || (choice == Choice::kAuto && soft);
}

// Writes of one queue pair may then reach memory in any order, which latency by polling the last byte forbids, and
// which spares large transfers the wait for each other.
bool orders_relaxed(const TestSpec& spec) {
  if (spec.relaxed_ordering != Choice::kAuto) return spec.relaxed_ordering == Choice::kOn;
  return spec.kind == TestKind::kBandwidth;
}

}  // namespace

Result<Device> Device::open(const os::FileTree& files, RdmaPlace place, const TestSpec& spec) {
  Device device(std::move(place));
  const RdmaDevice& opened = device.place_.device;
  if (spec.verb == RdmaVerb::kFetchAdd && !opened.limits().has_atomics)
    return fail(Code::kUnsupported, "{} has no atomic operations; measure another --verb", opened.name());
  device.pkey_ = TRY(opened.pkey(device.place_.port.number, spec.pkey_index));
  TRY(device.pin(files, spec.pin));
  device.domain_.reset(ibv_alloc_pd(opened.context()));
  if (!device.domain_)
    return fail(system_error(errno, fmt::format("allocating a protection domain of {}", opened.name())));
  Endpoint& end = device.place_.endpoint;
  end.yields = yields(spec.yield, opened.is_soft());
  if (end.yields) device.yield_mask_ = kYieldMask;
  end.relaxed_ordering = orders_relaxed(spec);
  if (device.pkey_ != 0) end.pkey = fmt::format("0x{:04x}", device.pkey_);
  return device;
}

Result<void> Device::pin(const os::FileTree& files, Choice choice) {
  Endpoint& end = place_.endpoint;
  const auto node = rdma::numa_node_of(files, name());
  end.numa_node = node.value_or(-1);
  if (choice == Choice::kOff) return {};
  if (!node) {
    if (choice == Choice::kAuto) return {};
    return fail(Code::kUnsupported, "pin: the NUMA node of {} is unknown, so the thread cannot be pinned to it",
                name());
  }
  auto pinned = rdma::NumaPin::to_node(files, *node);
  if (pinned) {
    end.cpus = pinned->cpus();
    pin_ = std::move(*pinned);
  } else if (choice == Choice::kOn) {
    return fail(std::move(pinned.error()));
  }
  return {};
}

Result<CompletionQueuePtr> Device::completion_queue(int entries) const {
  CompletionQueuePtr queue(ibv_create_cq(place_.device.context(), entries, nullptr, nullptr, 0));
  if (queue) return queue;
  Error error = system_error(errno, fmt::format("creating a completion queue of {} entries on {}", entries, name()));
  error.hint = "the device may allow fewer: lower --tx-depth or --qps";
  return fail(std::move(error));
}

NewQueuePair Device::queue_pair(ibv_qp_type type, const QueueNeeds& needs) const {
  ibv_pd* const domain = needs.domain != nullptr ? needs.domain : domain_.get();
  const ibv_qp_cap cap{.max_send_wr = needs.send_depth,
                       .max_recv_wr = needs.receive_depth,
                       .max_send_sge = 1,
                       .max_recv_sge = 1,
                       .max_inline_data = needs.inline_bytes};
  if (needs.operations != 0) {
    ibv_qp_init_attr_ex extended{};
    extended.send_cq = needs.sends;
    extended.recv_cq = needs.receives;
    extended.qp_type = type;
    extended.cap = cap;
    extended.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    extended.pd = domain;
    extended.send_ops_flags = needs.operations;
    QueuePairPtr pair(ibv_create_qp_ex(place_.device.context(), &extended));
    ibv_qp_ex* const api = pair ? ibv_qp_to_qp_ex(pair.get()) : nullptr;
    if (api != nullptr) return {.pair = std::move(pair), .api = api, .inline_granted = extended.cap.max_inline_data};
  }
  ibv_qp_init_attr attributes{};
  attributes.send_cq = needs.sends;
  attributes.recv_cq = needs.receives;
  attributes.qp_type = type;
  attributes.cap = cap;
  QueuePairPtr pair(ibv_create_qp(domain, &attributes));
  return {.pair = std::move(pair), .api = nullptr, .inline_granted = attributes.cap.max_inline_data};
}

Result<MemoryRegion> Device::region(const MemoryChoice& choice, size_t bytes, unsigned access) {
  std::unique_ptr<Memory> memory = TRY(get_memory(choice, bytes));
  Endpoint& end = place_.endpoint;
  end.memory = memory->text();
  const unsigned ordering = end.relaxed_ordering ? unsigned{IBV_ACCESS_RELAXED_ORDERING} : 0u;
  return MemoryRegion::create(domain_.get(), std::move(memory), IBV_ACCESS_LOCAL_WRITE | access | ordering, name());
}

}  // namespace railbed::perf
