// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/opening.h"

#include <algorithm>
#include <cerrno>

#include "perf/channel/socket_address.h"

namespace railbed::perf {
namespace {

rdma_conn_param parameters_of(const OpeningRequest& request) {
  rdma_conn_param parameters{};
  parameters.responder_resources = 1;  // reads at once, as rping has them
  parameters.initiator_depth = 1;
  parameters.retry_count = 7;
  parameters.rnr_retry_count = 7;
  parameters.private_data = request.private_data.data();
  parameters.private_data_len = static_cast<uint8_t>(request.private_data.size());
  return parameters;
}

int milliseconds_of(std::chrono::milliseconds patience) {
  return static_cast<int>(std::clamp<int64_t>(patience.count(), 1, 1 << 30));
}

}  // namespace

IpAddress PingConnection::address_of(const sockaddr_storage& storage) {
  return perf::address_of(storage);
}

Result<std::unique_ptr<PingConnection>> PingConnection::open(const TickClock& clock, OpeningRequest request) {
  std::unique_ptr<PingConnection> connection(new PingConnection(clock, std::move(request)));
  connection->own_events_.emplace(TRY(CmEvents::open()));
  connection->events_ = &*connection->own_events_;
  connection->peer_ = fmt::format("{} port {}", connection->request_.peer, connection->request_.port);
  connection->id_ = TRY(connection->events_->id());
  TRY(connection->resolve());
  TRY(connection->connect());
  return connection;
}

// Who asks for a connection meanwhile is turned away.
Result<CmEvent> PingConnection::next_of_ours(Deadline deadline, const CmEvents::Look& look) const {
  for (;;) {
    CmEvent event = TRY(events_->next(deadline, look));
    if (event.type != RDMA_CM_EVENT_CONNECT_REQUEST) return event;
    (void)rdma_reject(event.requested.get(), nullptr, 0);
  }
}

Result<void> PingConnection::expect(PingPhase phase, rdma_cm_event_type wanted, std::chrono::milliseconds patience) {
  auto event = next_of_ours(Deadline::after(patience, clock_.clock()), request_.look);
  if (!event && event.error().code == Code::kTimeout) return fail(opening_timed_out(phase, patience.count(), peer_));
  if (!event) return fail(std::move(event.error()));
  if (event->type == wanted) return {};
  if (event->type == RDMA_CM_EVENT_REJECTED) return fail(connection_rejected(std::abs(event->status), peer_));
  if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL) return fail(opening_failed(phase, ENODEV, peer_));
  return fail(opening_failed(phase, event->status < 0 ? -event->status : ECONNRESET, peer_));
}

Result<void> PingConnection::resolve() {
  SocketAddress to = socket_address(request_.peer, request_.port);
  std::optional<SocketAddress> from;
  if (request_.from) from = socket_address(*request_.from, 0);
  uint64_t began = clock_.now();
  if (rdma_resolve_addr(id_.get(), from ? from->raw() : nullptr, to.raw(), milliseconds_of(request_.patience)) != 0)
    return fail(opening_failed(PingPhase::kAddress, errno, peer_));
  TRY(expect(PingPhase::kAddress, RDMA_CM_EVENT_ADDR_RESOLVED, request_.patience));
  times_.address_ns = clock_.between_ns(began, clock_.now());
  began = clock_.now();
  if (rdma_resolve_route(id_.get(), milliseconds_of(request_.patience)) != 0)
    return fail(opening_failed(PingPhase::kRoute, errno, peer_));
  TRY(expect(PingPhase::kRoute, RDMA_CM_EVENT_ROUTE_RESOLVED, request_.patience));
  times_.route_ns = clock_.between_ns(began, clock_.now());
  return {};
}

Result<void> PingConnection::make_end() {
  end_ = TRY(PingEnd::open(
      *id_, clock_, {.role = request_.role, .patience = request_.stall, .look = [this](std::chrono::milliseconds wait) {
                       return look(wait);
                     }}));
  return {};
}

Result<void> PingConnection::connect() {
  TRY(make_end());
  rdma_conn_param parameters = parameters_of(request_);
  const uint64_t began = clock_.now();
  if (rdma_connect(id_.get(), &parameters) != 0) return fail(opening_failed(PingPhase::kConnect, errno, peer_));
  TRY(expect(PingPhase::kConnect, RDMA_CM_EVENT_ESTABLISHED, request_.patience));
  times_.connect_ns = clock_.between_ns(began, clock_.now());
  connected_ = true;
  return {};
}

Result<std::unique_ptr<PingConnection>> PingConnection::accept(const TickClock& clock, const CmEvents& events,
                                                               OpeningRequest request) {
  std::unique_ptr<PingConnection> connection(new PingConnection(clock, std::move(request)));
  connection->events_ = &events;
  const Deadline deadline = Deadline::after(connection->request_.patience, clock.clock());
  // A client that asks with the wrong words does not extend it.
  for (;;) {
    CmEvent event = TRY(events.next(deadline, connection->request_.look));
    if (TRY(connection->take(std::move(event)))) return connection;
  }
}

Result<bool> PingConnection::take(CmEvent event) {
  if (event.type != RDMA_CM_EVENT_CONNECT_REQUEST) return false;  // the end of a connection that was before
  const std::vector<uint8_t>& wanted = request_.private_data;
  const bool is_wanted = event.private_data.size() >= wanted.size() &&
                         std::equal(wanted.begin(), wanted.end(), event.private_data.begin());
  if (!is_wanted) {
    (void)rdma_reject(event.requested.get(), nullptr, 0);
    return false;
  }
  id_ = std::move(event.requested);
  peer_ = fmt::format("{}", peer_address());
  TRY(make_end());
  rdma_conn_param parameters = parameters_of(request_);
  parameters.private_data = nullptr;
  parameters.private_data_len = 0;
  const uint64_t began = clock_.now();
  if (rdma_accept(id_.get(), &parameters) != 0) return fail(opening_failed(PingPhase::kConnect, errno, peer_));
  connected_ = true;  // as far as this side goes; its first message may come before the event
  TRY(expect(PingPhase::kConnect, RDMA_CM_EVENT_ESTABLISHED, request_.stall));
  times_.connect_ns = clock_.between_ns(began, clock_.now());
  return true;
}

Result<void> PingConnection::look(std::chrono::milliseconds wait) {
  if (request_.look) TRY(request_.look());
  auto event = next_of_ours(Deadline::after(wait, clock_.clock()), {});
  if (!event && event.error().code == Code::kTimeout) return {};
  if (!event) return fail(std::move(event.error()));
  if (event->type == RDMA_CM_EVENT_DISCONNECTED) {
    disconnected_ = true;
    return fail(Error{.code = Code::kCanceled,
                      .message = fmt::format("{} closed the connection", peer_),
                      .hint = "see the output of that program"});
  }
  if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
    return fail(Code::kNotFound, "{} was removed from this machine", end_->device());
  return {};
}

PingConnection::~PingConnection() {
  if (connected_ && !disconnected_) (void)rdma_disconnect(id_.get());
}

}  // namespace railbed::perf
