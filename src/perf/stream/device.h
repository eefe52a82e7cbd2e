// SPDX-License-Identifier: Apache-2.0
// One end's RDMA device while it is measured: opened, with its protection domain and the measuring thread pinned near
// it.
//
// Why: the effect of an option on this device (relaxed ordering, NUMA node, huge pages, yielding) is decided here,
// once, and recorded in the endpoint, so that a result shows what was used and not what was requested. Queues, queue
// pairs and memory regions are created here.
// Threading: belongs to the thread that opened it, which is pinned until the end.
// Failure: as verbs.h; Unsupported if an option is not available here.
// Source: ibv_reg_mr(3), ibv_create_qp(3).
#pragma once

#include <optional>

#include "perf/stream/rdma_place.h"
#include "perf/stream/verbs.h"
#include "perf/test_spec.h"
#include "rdma/numa_pin.h"

namespace railbed::perf {

// Whose options: memory is chosen for each end.
enum class Side : uint8_t { kClient, kServer };

struct QueueNeeds {
  ibv_pd* domain = nullptr;  // null: the device's
  ibv_cq* sends = nullptr;
  ibv_cq* receives = nullptr;
  uint32_t send_depth = 1;
  uint32_t receive_depth = 1;
  uint32_t inline_bytes = 0;
  uint64_t operations = 0;  // that are posted by the work request API where the device has it; 0: none
};

struct NewQueuePair {
  QueuePairPtr pair;         // null: refused
  ibv_qp_ex* api = nullptr;  // of `pair`; null: it has only ibv_post_send
  uint32_t inline_granted = 0;
};

class Device {
 public:
  static Result<Device> open(const os::FileTree& files, RdmaPlace place, const TestSpec& spec);

  const std::string& name() const { return place_.device.name(); }
  const RdmaPlace& place() const { return place_; }
  const DeviceLimits& limits() const { return place_.device.limits(); }
  Endpoint& endpoint() { return place_.endpoint; }
  const Endpoint& endpoint() const { return place_.endpoint; }
  uint16_t pkey() const { return pkey_; }
  // Yields once per this + 1 fruitless polls; all ones: never.
  uint32_t yield_mask() const { return yield_mask_; }

  Result<CompletionQueuePtr> completion_queue(int entries) const;
  ThreadDomain thread_domain() const { return ThreadDomain::make(place_.device.context(), domain_.get()); }
  // Without an error's hint where the device wants less. errno is that of the call.
  NewQueuePair queue_pair(ibv_qp_type type, const QueueNeeds& needs) const;
  // `access`: of the peer, to the memory.
  Result<MemoryRegion> region(const MemoryChoice& choice, size_t bytes, unsigned access);

 private:
  explicit Device(RdmaPlace place) : place_(std::move(place)) {}
  Result<void> pin(const os::FileTree& files, Choice choice);

  std::optional<rdma::NumaPin> pin_;
  RdmaPlace place_;
  DomainPtr domain_;
  uint16_t pkey_ = 0;
  uint32_t yield_mask_ = UINT32_MAX;
};

}  // namespace railbed::perf
