// SPDX-License-Identifier: Apache-2.0
// A connection of the connection manager, opened from either side, with the time of each phase.
//
// Why: the three phases before any data (address, route, connect) fail for different reasons and take different times:
// neighbour discovery, a subnet manager, the peer. Order: open, then the exchange over end(), then the destructor,
// which disconnects.
// Threading: one thread per instance.
// Failure: a sentence per phase (phase.h).
#pragma once

#include <optional>

#include "perf/ping/cm.h"
#include "perf/ping/phase.h"
#include "perf/ping/ping_end.h"

namespace railbed::perf {

struct OpeningTimes {
  uint64_t address_ns = 0;
  uint64_t route_ns = 0;
  uint64_t connect_ns = 0;  // from the request until the connection is usable, with the queue pair's changes of state
  friend bool operator==(const OpeningTimes&, const OpeningTimes&) = default;
};

struct OpeningRequest {
  IpAddress peer;
  uint16_t port = kRpingPort;
  std::optional<IpAddress> from;  // an address of this machine; absent: the one that routes say
  std::vector<uint8_t> private_data;
  PingRole role = PingRole::kMover;
  std::chrono::milliseconds patience{5000};  // for each phase
  std::chrono::milliseconds stall{10000};    // for each operation on data
  CmEvents::Look look;                       // ends a wait by failing
};

class PingConnection {
 public:
  // To a peer that listens.
  static Result<std::unique_ptr<PingConnection>> open(const TickClock& clock, OpeningRequest request);
  // From a peer, at `listener`, whose events these are. Requests with other private data than the wanted are rejected;
  // none wanted: any. `patience`: for the first request.
  static Result<std::unique_ptr<PingConnection>> accept(const TickClock& clock, const CmEvents& events,
                                                        OpeningRequest request);
  ~PingConnection();
  PingConnection(const PingConnection&) = delete;
  PingConnection& operator=(const PingConnection&) = delete;

  PingEnd& end() { return *end_; }
  const OpeningTimes& times() const { return times_; }
  const std::string& peer() const { return peer_; }  // "10.1.0.1 port 7174"
  IpAddress local_address() const { return address_of(id_->route.addr.src_storage); }
  IpAddress peer_address() const { return address_of(id_->route.addr.dst_storage); }
  int port_number() const { return id_->port_num; }  // of the device
  // Whether the peer has ended it, as far as this was looked at.
  bool disconnected() const { return disconnected_; }

 private:
  static IpAddress address_of(const sockaddr_storage& storage);
  PingConnection(const TickClock& clock, OpeningRequest request) : clock_(clock), request_(std::move(request)) {}
  Result<void> resolve();
  Result<void> connect();
  Result<bool> take(CmEvent event);  // whether the request is wanted, and the connection is there
  Result<void> make_end();
  Result<void> expect(PingPhase phase, rdma_cm_event_type wanted, std::chrono::milliseconds patience);
  Result<CmEvent> next_of_ours(Deadline deadline, const CmEvents::Look& look) const;
  // During the exchange: ends a wait when the peer has gone.
  Result<void> look(std::chrono::milliseconds wait);

  const TickClock& clock_;
  OpeningRequest request_;
  std::optional<CmEvents> own_events_;
  const CmEvents* events_ = nullptr;
  CmId id_;
  std::unique_ptr<PingEnd> end_;  // before the id
  OpeningTimes times_;
  std::string peer_;
  bool connected_ = false;
  bool disconnected_ = false;
};

}  // namespace railbed::perf
