// SPDX-License-Identifier: Apache-2.0
#include "ideal_verbs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <infiniband/verbs.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "perf/stream/verbs_library.h"

#undef ibv_query_port
#undef ibv_reg_mr

namespace railbed::perf {

Result<void> load_verbs() {
  return {};
}
IdealDevice& ideal() {
  static IdealDevice device;
  return device;
}

namespace {

// Completions in a ring that is as large as the deepest queue.
struct Queue : ibv_cq {
  static constexpr uint64_t kSlots = 16384;
  std::array<ibv_wc, kSlots> ring{};
  std::atomic<uint64_t> head = 0;  // written by the device
  uint64_t tail = 0;
  bool arrivals = false;
};

ibv_device* only_device() {
  static ibv_device device{};
  std::strncpy(device.name, "ideal0", sizeof device.name - 1);
  return &device;
}

void complete(ibv_cq* queue, uint64_t id, uint32_t imm) {
  auto& to = *static_cast<Queue*>(queue);
  const uint64_t head = to.head.load(std::memory_order_relaxed);
  ibv_wc& slot = to.ring[head % Queue::kSlots];
  slot.wr_id = id;
  slot.imm_data = imm;
  to.head.store(head + 1, std::memory_order_release);
}

// The queue of the one message that LateAnswers has under way.
std::atomic<ibv_cq*> under_way = nullptr;
bool late = false;

void answer_late(const std::stop_token& stop, std::chrono::nanoseconds after) {
  while (!stop.stop_requested()) {
    ibv_cq* queue = under_way.load(std::memory_order_acquire);
    if (queue == nullptr) continue;
    const auto due = std::chrono::steady_clock::now() + after;
    while (std::chrono::steady_clock::now() < due) continue;
    under_way.store(nullptr, std::memory_order_relaxed);
    complete(queue, 0, 0);
    constexpr uint64_t kOne = 1;
    if (write(queue->channel->fd, &kOne, sizeof kOne) != sizeof kOne) return;
  }
}

int post_send(ibv_qp* pair, ibv_send_wr* first, ibv_send_wr**) {
  const bool answers = ideal().answers;
  for (const ibv_send_wr* one = first; one != nullptr; one = one->next) {
    if (late)
      under_way.store(pair->send_cq, std::memory_order_release);
    else if ((one->send_flags & IBV_SEND_SIGNALED) != 0)
      complete(pair->send_cq, one->wr_id, 0);
    if (!answers) continue;
    if (pair->recv_cq != pair->send_cq)
      complete(pair->recv_cq, 0, one->imm_data);
    else if (one->opcode == IBV_WR_RDMA_WRITE)
      std::memcpy(reinterpret_cast<void*>(one->wr.rdma.remote_addr), reinterpret_cast<void*>(one->sg_list->addr),
                  one->sg_list->length);
  }
  return 0;
}

int post_recv(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) {
  return 0;
}

int poll_cq(ibv_cq* queue, int most, ibv_wc* out) {
  auto& from = *static_cast<Queue*>(queue);
  IdealDevice& device = ideal();
  if (from.arrivals && device.endless > 0) {
    const int count = static_cast<int>(std::min<uint64_t>(device.endless, static_cast<uint64_t>(most)));
    device.endless -= static_cast<uint64_t>(count);
    for (int i = 0; i < count; ++i) {
      out[i].wr_id = 0;
      out[i].status = IBV_WC_SUCCESS;
      out[i].byte_len = device.arrived_bytes;
    }
    return count;
  }
  int count = 0;
  const uint64_t head = from.head.load(std::memory_order_acquire);
  for (; count < most && from.tail != head; ++count, ++from.tail) {
    const ibv_wc& slot = from.ring[from.tail % Queue::kSlots];
    out[count].wr_id = slot.wr_id;
    out[count].imm_data = slot.imm_data;
    out[count].status = IBV_WC_SUCCESS;
  }
  return count;
}

int req_notify(ibv_cq*, int) {
  return 0;  // every completion of LateAnswers is notified
}

}  // namespace

LateAnswers::LateAnswers(std::chrono::nanoseconds after)
    : thread_([after](const std::stop_token& stop) { answer_late(stop, after); }) {
  late = true;
}
LateAnswers::~LateAnswers() {
  late = false;
}

}  // namespace railbed::perf

using namespace railbed::perf;

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  *count = 1;
  return new ibv_device*[2]{only_device(), nullptr};
}
void ibv_free_device_list(ibv_device** list) {
  delete[] list;
}
const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}
ibv_context* ibv_open_device(ibv_device*) {
  auto* context = new ibv_context();
  context->ops.post_send = post_send;
  context->ops.post_recv = post_recv;
  context->ops.poll_cq = poll_cq;
  context->ops.req_notify_cq = req_notify;
  return context;
}
int ibv_close_device(ibv_context* context) {
  delete context;
  return 0;
}
int ibv_query_device(ibv_context*, ibv_device_attr* out) {
  out->phys_port_cnt = 1;
  out->max_qp_init_rd_atom = out->max_qp_rd_atom = 16;
  out->atomic_cap = IBV_ATOMIC_HCA;
  return 0;
}
int ibv_query_port(ibv_context*, uint8_t, _compat_ibv_port_attr*) {
  return ENOSYS;  // the place is made by the benchmark
}
ssize_t _ibv_query_gid_table(ibv_context*, ibv_gid_entry*, size_t, uint32_t, size_t) {
  return 0;
}
int ibv_query_pkey(ibv_context*, uint8_t, int, __be16* key) {
  *key = 0xffff;
  return 0;
}
ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return new ibv_pd{.context = context};
}
int ibv_dealloc_pd(ibv_pd* domain) {
  delete domain;
  return 0;
}
ibv_mr* ibv_reg_mr(ibv_pd* domain, void* at, size_t bytes, int) {
  return new ibv_mr{.context = domain->context, .pd = domain, .addr = at, .length = bytes};
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* at, size_t bytes, uint64_t, unsigned) {
  return ibv_reg_mr(domain, at, bytes, 0);
}
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
  errno = EOPNOTSUPP;
  return nullptr;
}
int ibv_dereg_mr(ibv_mr* region) {
  delete region;
  return 0;
}
ibv_ah* ibv_create_ah(ibv_pd* domain, ibv_ah_attr*) {
  return new ibv_ah{.context = domain->context, .pd = domain};
}
int ibv_destroy_ah(ibv_ah* handle) {
  delete handle;
  return 0;
}
ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return new ibv_comp_channel{.context = context, .fd = eventfd(0, EFD_CLOEXEC), .refcnt = 0};
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  close(channel->fd);
  delete channel;
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq**, void**) {
  uint64_t events = 0;
  return read(channel->fd, &events, sizeof events) == sizeof events ? 0 : -1;
}
void ibv_ack_cq_events(ibv_cq*, unsigned) {}
ibv_cq* ibv_create_cq(ibv_context* context, int, void*, ibv_comp_channel* channel, int) {
  auto* queue = new Queue();
  queue->context = context;
  queue->channel = channel;
  return queue;
}
int ibv_destroy_cq(ibv_cq* queue) {
  delete static_cast<Queue*>(queue);
  return 0;
}
ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* asked) {
  auto* pair = new ibv_qp();
  pair->context = domain->context;
  pair->pd = domain;
  pair->send_cq = asked->send_cq;
  pair->recv_cq = asked->recv_cq;
  pair->qp_num = 1;
  static_cast<Queue*>(asked->recv_cq)->arrivals = asked->recv_cq != asked->send_cq;
  return pair;
}
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp*) {
  return nullptr;
}
int ibv_modify_qp(ibv_qp*, ibv_qp_attr*, int) {
  return 0;
}
int ibv_destroy_qp(ibv_qp* pair) {
  delete pair;
  return 0;
}
const char* ibv_wc_status_str(ibv_wc_status) {
  return "";
}

}  // extern "C"
