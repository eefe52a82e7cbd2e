// SPDX-License-Identifier: Apache-2.0
// The RDMA connection manager as resources: its events, with deadlines, and ids that close themselves.
//
// Why: a call of the connection manager returns immediately, and its completion is an event that may never arrive. All
// waiting is here, and ends at a deadline or on the caller's request.
// Threading: one thread per CmEvents with its ids.
// Failure: kTimeout at the deadline; NotFound without its device.
// Source: rdma_cm(7), rdma_get_cm_event(3).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <rdma/rdma_cma.h>

#include "base/error.h"
#include "base/ip.h"
#include "perf/deadline.h"

namespace railbed::perf {

struct CmIdClose {
  void operator()(rdma_cm_id* id) const;  // with its queue pair
};
using CmId = std::unique_ptr<rdma_cm_id, CmIdClose>;

struct CmEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;
  int status = 0;  // a negative errno, or the reason of a rejection
  CmId requested;  // of a connection that is asked for
  std::vector<uint8_t> private_data;
};

class CmEvents {
 public:
  using Look = std::function<Result<void>()>;  // ends a wait by failing; may be empty

  static Result<CmEvents> open();
  Result<CmId> id() const;
  // The next one, by the deadline. Calls `look` four times a second.
  Result<CmEvent> next(Deadline deadline, const Look& look) const;

 private:
  struct Close {
    void operator()(rdma_event_channel* channel) const;
  };
  std::unique_ptr<rdma_event_channel, Close> channel_;
};

// Waits for connections at an address of this machine. Port 0: any free one.
struct CmListener {
  static Result<CmListener> open(const CmEvents& events, const IpAddress& address, uint16_t port);

  CmId id;
  uint16_t port = 0;
};

}  // namespace railbed::perf
