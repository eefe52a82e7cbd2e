// SPDX-License-Identifier: Apache-2.0
// libibverbs objects as resources: each closes itself, each failure says what, where and what to do.
//
// Why: verbs calls report a bare errno, and the usual causes (locked-memory limit, a GID of another namespace, no
// route) are hidden behind EINVAL or ENOMEM. The explanations are pure functions, tested without a device.
// Threading: verbs are thread-safe; these objects belong to one thread.
// Failure: Code by cause, as explained.
// Source: ibv_open_device(3) and the related pages; kernel 6.1 to 7.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "base/error.h"
#include "perf/stream/memory.h"
#include "rdma/gid.h"

namespace railbed::perf {

template <auto Close>
struct VerbsClose {
  template <typename T>
  void operator()(T* object) const {
    Close(object);
  }
};
using ContextPtr = std::unique_ptr<ibv_context, VerbsClose<ibv_close_device>>;
using DomainPtr = std::unique_ptr<ibv_pd, VerbsClose<ibv_dealloc_pd>>;
using CompletionQueuePtr = std::unique_ptr<ibv_cq, VerbsClose<ibv_destroy_cq>>;
using QueuePairPtr = std::unique_ptr<ibv_qp, VerbsClose<ibv_destroy_qp>>;
// Promises the device that one thread at a time uses what is made in it, which spares locks.
struct ThreadDomain {
  struct Close {
    void operator()(ibv_td* thread) const;
  };
  std::unique_ptr<ibv_td, Close> thread;
  DomainPtr parent;  // where queue pairs are made; ends before its thread domain
  // Empty where the device has none, or no more of them.
  static ThreadDomain make(ibv_context* context, ibv_pd* domain);
};
using AddressHandlePtr = std::unique_ptr<ibv_ah, VerbsClose<ibv_destroy_ah>>;

struct PortFacts {
  int number = 1;
  ibv_port_state state = IBV_PORT_NOP;
  bool is_infiniband = false;
  uint32_t lid = 0;
  int mtu_bytes = 0;
  std::vector<rdma::GidEntry> gids;
};

struct DeviceLimits {
  uint32_t reads_sent = 0;      // reads and atomics under way as requester, per queue pair
  uint32_t reads_answered = 0;  // and as responder
  bool has_atomics = false;
};

class RdmaDevice {
 public:
  static Result<std::vector<std::string>> names();
  static Result<RdmaDevice> open(const std::string& name);

  const std::string& name() const { return name_; }
  bool is_soft() const { return soft_; }  // rxe, siw: software on a network interface
  int port_count() const { return port_count_; }
  const DeviceLimits& limits() const { return limits_; }
  Result<PortFacts> port(int number) const;
  // An entry of the port's table of partition keys. Without sysfs the first one, which every device has, is 0: unknown.
  Result<uint16_t> pkey(int port, int64_t index) const;
  ibv_context* context() const { return context_.get(); }

 private:
  ContextPtr context_;
  std::string name_;
  bool soft_ = false;
  int port_count_ = 0;
  DeviceLimits limits_;
};

// Memory that is registered with a device.
class MemoryRegion {
 public:
  // `access`: of ibv_access_flags.
  static Result<MemoryRegion> create(ibv_pd* domain, std::unique_ptr<Memory> memory, unsigned access,
                                     const std::string& device);
  const Memory& memory() const { return *memory_; }
  std::byte* data() const { return memory_->data(); }
  uint32_t local_key() const { return region_->lkey; }
  uint32_t remote_key() const { return region_->rkey; }

 private:
  std::unique_ptr<Memory> memory_;  // outlives the registration
  std::unique_ptr<ibv_mr, VerbsClose<ibv_dereg_mr>> region_;
};

// A path to the peer, with everything that ibv_modify_qp needs.
struct QueuePairPath {
  Gid remote_gid;
  int gid_index = 0;
  int port = 1;
  uint32_t remote_lid = 0;
  uint32_t remote_qp = 0;
  uint32_t remote_sequence = 0;
  uint32_t local_sequence = 0;
  int mtu_bytes = 1024;
  bool is_global = true;  // with a GRH: always on RoCE, between subnets on InfiniBand
  uint32_t flow_label = 0;
  int traffic_class = 0;
  int service_level = 0;
  uint32_t reads_sent = 1;      // reads and atomics under way as requester
  uint32_t reads_answered = 1;  // and as responder
};
// What a queue pair may do from the start.
struct QueuePairStart {
  int port = 1;
  int64_t pkey_index = 0;
  unsigned access = 0;            // of the peer, to the memory: ibv_access_flags
  std::optional<uint32_t> q_key;  // UD: what a datagram must carry
};
// Reset → Init.
Result<void> initialise(ibv_qp* qp, const QueuePairStart& start, const std::string& device);
// Init → RTR → RTS, RC.
Result<void> connect(ibv_qp* qp, const QueuePairPath& path, const std::string& device);
// The same for UD, with the way that its datagrams take.
Result<AddressHandlePtr> connect_datagrams(ibv_qp* qp, const QueuePairPath& path, const std::string& device);

// The explanations of failures, pure.
Error port_down(const std::string& device, const PortFacts& port);
Error registration_failed(int sys_errno, size_t bytes, uint64_t memlock_bytes, const std::string& device);
Error gpu_registration_failed(int sys_errno, const std::string& memory, const std::string& device);
Error connect_failed(int sys_errno, std::string_view to_state, const QueuePairPath& path, const std::string& device);
Error completion_failed(ibv_wc_status status, std::string_view operation, const std::string& device);
ibv_mtu mtu_code(int bytes);

}  // namespace railbed::perf
