// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/fake_cm.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "perf/channel/socket_address.h"
#include "perf/ping/cm_library.h"
#include "perf/stream/fake_verbs.h"

namespace railbed::perf {

Result<void> load_cm() {
  if (fake_cm().library_missing) return fail(Code::kNotFound, "the fake has no librdmacm");
  return {};
}

FakeCm& fake_cm() {
  static FakeCm cm;
  return cm;
}

namespace {

struct FakeEvent : rdma_cm_event {
  std::vector<uint8_t> data;
};
struct FakeChannel : rdma_event_channel {
  std::deque<FakeEvent*> events;
};
struct FakeId : rdma_cm_id {
  FakeId* peer = nullptr;
  bool connected = false;
};

std::map<uint16_t, FakeId*>& listeners() {
  static std::map<uint16_t, FakeId*> all;
  return all;
}

uint16_t next_port() {
  static uint16_t port = 40000;
  return ++port;
}

bool refused(const char* function) {
  const auto found = fake_cm().refuses.find(function);
  if (found == fake_cm().refuses.end()) return false;
  errno = found->second;
  return true;
}

void push(FakeId& id, rdma_cm_event_type type, int status, FakeId* about, std::vector<uint8_t> data = {}) {
  auto* event = new FakeEvent();
  event->id = about;
  event->event = type;
  event->status = status;
  event->data = std::move(data);
  event->param.conn.private_data = event->data.data();
  event->param.conn.private_data_len = static_cast<uint8_t>(event->data.size());
  auto* channel = static_cast<FakeChannel*>(id.channel);
  channel->events.push_back(event);
  eventfd_write(channel->fd, 1);
}

// The usual event of a function, or what the test wants instead.
void answer(const char* function, FakeId& id, rdma_cm_event_type type) {
  if (fake_cm().silent.contains(function)) return;
  const auto instead = fake_cm().answers.find(function);
  if (instead != fake_cm().answers.end())
    push(id, instead->second.first, instead->second.second, &id);
  else
    push(id, type, 0, &id);
}

void set_address(sockaddr_storage& to, uint16_t port) {
  to = socket_address(*IpAddress::parse("127.0.0.1"), port).storage;
}

ibv_context* open_first_device() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* context = list[0] == nullptr ? nullptr : ibv_open_device(list[0]);
  ibv_free_device_list(list);
  return context;
}

void part(FakeId& id) {
  if (id.peer == nullptr) return;
  push(*id.peer, id.connected ? RDMA_CM_EVENT_DISCONNECTED : RDMA_CM_EVENT_REJECTED, id.connected ? 0 : 28, id.peer);
  id.peer->peer = nullptr;
  id.peer = nullptr;
}

}  // namespace
}  // namespace railbed::perf

using namespace railbed::perf;

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_create_event_channel")) return nullptr;
  auto* channel = new FakeChannel();
  channel->fd = eventfd(0, EFD_SEMAPHORE);
  ++fake_cm().open_channels;
  return channel;
}
void rdma_destroy_event_channel(rdma_event_channel* channel) {
  const std::lock_guard lock(fake().mutex);
  auto* own = static_cast<FakeChannel*>(channel);
  for (FakeEvent* event : own->events) delete event;
  close(own->fd);
  delete own;
  --fake_cm().open_channels;
}
int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void*, rdma_port_space) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_create_id")) return -1;
  auto* made = new FakeId();
  made->channel = channel;
  made->port_num = 1;
  ++fake_cm().open_ids;
  *id = made;
  return 0;
}
int rdma_destroy_id(rdma_cm_id* id) {
  const std::lock_guard lock(fake().mutex);
  auto* own = static_cast<FakeId*>(id);
  part(*own);
  std::erase_if(listeners(), [&](const auto& one) { return one.second == own; });
  auto& events = static_cast<FakeChannel*>(own->channel)->events;
  std::erase_if(events, [&](FakeEvent* event) {
    const bool of_this = event->id == own;
    if (!of_this) return false;
    delete event;
    eventfd_t count = 0;
    eventfd_read(own->channel->fd, &count);
    return true;
  });
  if (own->verbs != nullptr) ibv_close_device(own->verbs);
  delete own;
  --fake_cm().open_ids;
  return 0;
}
int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_bind_addr")) return -1;
  const uint16_t port = ntohs(reinterpret_cast<sockaddr_in*>(address)->sin_port);
  set_address(id->route.addr.src_storage, port == 0 ? next_port() : port);
  return 0;
}
int rdma_listen(rdma_cm_id* id, int) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_listen")) return -1;
  listeners()[port_of(id->route.addr.src_storage)] = static_cast<FakeId*>(id);
  return 0;
}
int rdma_resolve_addr(rdma_cm_id* id, sockaddr*, sockaddr* to, int) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_resolve_addr")) return -1;
  set_address(id->route.addr.src_storage, next_port());
  set_address(id->route.addr.dst_storage, ntohs(reinterpret_cast<sockaddr_in*>(to)->sin_port));
  id->verbs = open_first_device();
  answer("rdma_resolve_addr", *static_cast<FakeId*>(id), RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}
int rdma_resolve_route(rdma_cm_id* id, int) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_resolve_route")) return -1;
  answer("rdma_resolve_route", *static_cast<FakeId*>(id), RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}
int rdma_create_qp(rdma_cm_id* id, ibv_pd* domain, ibv_qp_init_attr* attributes) {
  id->qp = ibv_create_qp(domain, attributes);
  return id->qp == nullptr ? -1 : 0;
}
void rdma_destroy_qp(rdma_cm_id* id) {
  ibv_destroy_qp(id->qp);
  id->qp = nullptr;
}
int rdma_connect(rdma_cm_id* id, rdma_conn_param* parameters) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_connect")) return -1;
  auto* own = static_cast<FakeId*>(id);
  if (fake_cm().silent.contains("rdma_connect") || fake_cm().answers.contains("rdma_connect")) {
    answer("rdma_connect", *own, RDMA_CM_EVENT_ESTABLISHED);
    return 0;
  }
  const auto listener = listeners().find(port_of(id->route.addr.dst_storage));
  if (listener == listeners().end()) {
    push(*own, RDMA_CM_EVENT_REJECTED, 8, own);
    return 0;
  }
  auto* child = new FakeId();
  ++fake_cm().open_ids;
  child->channel = listener->second->channel;
  child->port_num = 1;
  child->verbs = open_first_device();
  child->route.addr.src_storage = id->route.addr.dst_storage;
  child->route.addr.dst_storage = id->route.addr.src_storage;
  child->peer = own;
  own->peer = child;
  const auto* data = static_cast<const uint8_t*>(parameters->private_data);
  push(*child, RDMA_CM_EVENT_CONNECT_REQUEST, 0, child, {data, data + parameters->private_data_len});
  return 0;
}
int rdma_accept(rdma_cm_id* id, rdma_conn_param*) {
  const std::lock_guard lock(fake().mutex);
  if (refused("rdma_accept")) return -1;
  auto* own = static_cast<FakeId*>(id);
  if (own->peer == nullptr) {
    errno = ECONNRESET;
    return -1;
  }
  own->connected = own->peer->connected = true;
  for (FakeId* end : {own, own->peer}) {
    ibv_qp_attr attributes{};
    attributes.dest_qp_num = end->peer->qp->qp_num;
    ibv_modify_qp(end->qp, &attributes, IBV_QP_DEST_QPN);
    push(*end, RDMA_CM_EVENT_ESTABLISHED, 0, end);
  }
  return 0;
}
int rdma_reject(rdma_cm_id* id, const void*, uint8_t) {
  const std::lock_guard lock(fake().mutex);
  part(*static_cast<FakeId*>(id));
  return 0;
}
int rdma_disconnect(rdma_cm_id* id) {
  const std::lock_guard lock(fake().mutex);
  auto* own = static_cast<FakeId*>(id);
  part(*own);
  return 0;
}
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  const std::lock_guard lock(fake().mutex);
  auto* own = static_cast<FakeChannel*>(channel);
  if (own->events.empty()) {
    errno = EAGAIN;
    return -1;
  }
  eventfd_t count = 0;
  eventfd_read(own->fd, &count);
  *event = own->events.front();
  own->events.pop_front();
  return 0;
}
int rdma_ack_cm_event(rdma_cm_event* event) {
  delete static_cast<FakeEvent*>(event);
  return 0;
}

}  // extern "C"
