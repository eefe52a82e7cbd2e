// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/cm.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>

#include "perf/channel/socket_address.h"
#include "perf/ping/cm_library.h"

namespace railbed::perf {
namespace {

// Private data is a field of a packet of fixed size.
std::vector<uint8_t> received_with(const rdma_cm_event& event) {
  const rdma_conn_param& parameters = event.param.conn;
  if (event.event != RDMA_CM_EVENT_CONNECT_REQUEST || parameters.private_data == nullptr) return {};
  const auto* first = static_cast<const uint8_t*>(parameters.private_data);
  return {first, first + parameters.private_data_len};
}

}  // namespace

void CmIdClose::operator()(rdma_cm_id* id) const {
  if (id->qp != nullptr) rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

void CmEvents::Close::operator()(rdma_event_channel* channel) const {
  rdma_destroy_event_channel(channel);
}

Result<CmEvents> CmEvents::open() {
  TRY(load_cm());
  CmEvents events;
  errno = 0;
  events.channel_.reset(rdma_create_event_channel());
  if (!events.channel_) {
    Error error = system_error(errno != 0 ? errno : ENODEV, "opening RDMA's connection manager");
    error.hint =
        "check that /dev/infiniband/rdma_cm is readable; `modprobe rdma_ucm` creates it, and in a pod it comes with "
        "the RDMA resource";
    return fail(std::move(error));
  }
  const int fd = events.channel_->fd;
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return fail(system_error(errno, "fcntl"));
  return events;
}

Result<CmId> CmEvents::id() const {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0)
    return fail(system_error(errno, "making an id of RDMA's connection manager"));
  return CmId(id);
}

Result<CmEvent> CmEvents::next(Deadline deadline, const Look& look) const {
  for (;;) {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel_.get(), &event) == 0) {
      CmEvent out{
          .type = event->event, .status = event->status, .requested = {}, .private_data = received_with(*event)};
      if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) out.requested.reset(event->id);
      rdma_ack_cm_event(event);
      return out;
    }
    if (errno != EAGAIN && errno != EINTR) return fail(system_error(errno, "waiting for RDMA's connection manager"));
    if (look) TRY(look());
    if (deadline.passed()) return fail(Code::kTimeout, "no event of RDMA's connection manager in time");
    pollfd entry{.fd = channel_->fd, .events = POLLIN, .revents = 0};
    if (deadline.or_after(kLookForStop).poll({&entry, 1}) < 0 && errno != EINTR)
      return fail(system_error(errno, "poll"));
  }
}

Result<CmListener> CmListener::open(const CmEvents& events, const IpAddress& address, uint16_t port) {
  CmListener listener{.id = TRY(events.id()), .port = port};
  SocketAddress where = socket_address(address, port);
  const std::string what = fmt::format("listening for RDMA connections on {} port {}", address, port);
  if (rdma_bind_addr(listener.id.get(), where.raw()) != 0) {
    Error error = system_error(errno, what);
    if (error.sys_errno == ENODEV || error.sys_errno == EADDRNOTAVAIL)
      error.hint = "the address must be one of an interface that has an RDMA device: `rdma link` lists them";
    if (error.sys_errno == EADDRINUSE) error.hint = "another program is listening on it; choose another port";
    return fail(std::move(error));
  }
  if (rdma_listen(listener.id.get(), 4) != 0) return fail(system_error(errno, what));
  listener.port = port_of(listener.id->route.addr.src_storage);
  return listener;
}

}  // namespace railbed::perf
