// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/fake_verbs.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <utility>

#include <endian.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "perf/stream/verbs_library.h"

// These are macros for inline functions, which end at the functions of the same names below.
#undef ibv_query_port
#undef ibv_reg_mr

namespace railbed::perf {

Result<void> load_verbs() {
  if (fake().library_missing) return fail(Code::kNotFound, "the fake has no library");
  return {};
}

FakeVerbs& fake() {
  static FakeVerbs verbs;
  return verbs;
}

namespace {

// With the extended form around the plain one, as libibverbs has it.
struct FakeContext : verbs_context {
  ibv_device own{};
  size_t device = 0;
};
FakeContext& of(ibv_context* context) {
  auto* whole = reinterpret_cast<char*>(context) - offsetof(verbs_context, context);
  return *static_cast<FakeContext*>(reinterpret_cast<verbs_context*>(whole));
}
// The extended form begins as the plain one.
struct FakeQueue : ibv_cq_ex {
  std::deque<ibv_wc> done;
  std::deque<uint64_t> device_ns;  // beside `done`
  bool armed = false;
};
FakeQueue& of(ibv_cq* queue) {
  return *static_cast<FakeQueue*>(reinterpret_cast<ibv_cq_ex*>(queue));
}
// A message that has not met a receive.
struct Waiting {
  std::vector<uint8_t> bytes;
  ibv_wc arrival{};
  bool lands = false;  // its bytes go to the receive
};
struct FakePair;
// A queue pair by its other name, with the requests of the post that is being made.
struct FakeApi : ibv_qp_ex {
  FakePair* pair = nullptr;
  std::deque<ibv_send_wr> requests;
  std::deque<ibv_sge> pieces;
  bool started = false;
};
struct FakePair : ibv_qp {
  std::unique_ptr<FakeApi> api;
  uint32_t peer = 0;
  uint32_t q_key = 0;
  std::deque<ibv_recv_wr> receives;  // with their only piece in `places`
  std::deque<ibv_sge> places;
  std::deque<Waiting> waiting;
};

std::map<uint32_t, FakePair*>& pairs() {
  static std::map<uint32_t, FakePair*> all;
  return all;
}
std::map<uint32_t, ibv_mr*>& regions() {
  static std::map<uint32_t, ibv_mr*> all;
  return all;
}
uint32_t next_number() {
  static std::atomic<uint32_t> number{16};
  return ++number;
}

// The errno with which this call fails; 0: it does not.
int fault(const std::string& function) {
  const std::lock_guard lock(fake().mutex);
  const auto found = fake().faults.find(function);
  if (found == fake().faults.end() || found->second.after-- > 0) return 0;
  found->second.after = 0;
  return found->second.sys_errno;
}

template <typename T>
T* made(const char* function) {
  if (const int error = fault(function); error != 0) {
    errno = error;
    return nullptr;
  }
  const std::lock_guard lock(fake().mutex);
  ++fake().open_objects;
  return new T();
}
template <typename T>
int closed(void* object) {
  const std::lock_guard lock(fake().mutex);
  --fake().open_objects;
  delete static_cast<T*>(object);
  return 0;
}

// As a NIC writes: no program sees it happen, and the last byte comes last.
__attribute__((no_sanitize("thread"))) void copy(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<volatile uint8_t*>(to);
  const auto* source = static_cast<const volatile uint8_t*>(from);
  for (size_t i = 0; i < bytes; ++i) target[i] = source[i];
}

uint64_t device_clock_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()) + 1'000'000'000'000;
}

void complete(ibv_cq* cq, const ibv_wc& completion) {
  FakeQueue& queue = of(cq);
  queue.done.push_back(completion);
  queue.device_ns.push_back(device_clock_ns());
  if (std::exchange(queue.armed, false) && queue.channel != nullptr) eventfd_write(queue.channel->fd, 1);
}

// Outside of the mutex: others' posts take their own time meanwhile. The machine that the message is for has waited for
// it as long.
void take_time(const ibv_qp* qp) {
  std::unique_lock lock(fake().mutex);
  FakeDevice& device = fake().devices[of(qp->context).device];
  if (++device.posts % device.takes_every != 0 || device.post_takes.count() == 0) return;
  Clock& clock = *device.clock;
  const std::chrono::microseconds takes = device.post_takes;
  const auto peer = pairs().find(static_cast<const FakePair*>(qp)->peer);
  Clock* awaiting = peer == pairs().end() ? &clock : fake().devices[of(peer->second->context).device].clock;
  lock.unlock();
  clock.sleep_until(clock.now() + takes);
  if (awaiting != &clock) awaiting->sleep_until(awaiting->now() + takes);
}

void meet(FakePair& pair) {
  while (!pair.waiting.empty() && !pair.receives.empty()) {
    Waiting& message = pair.waiting.front();
    if (message.lands) {
      EXPECT_LE(message.bytes.size(), pair.places.front().length);
      copy(reinterpret_cast<void*>(pair.places.front().addr), message.bytes.data(), message.bytes.size());
    }
    message.arrival.wr_id = pair.receives.front().wr_id;
    complete(pair.recv_cq, message.arrival);
    pair.waiting.pop_front();
    pair.receives.pop_front();
    pair.places.pop_front();
  }
}

bool lost(const FakePair& pair, const ibv_send_wr& one) {
  ++fake().datagrams;
  const int every = fake().lost_datagrams_every;
  return pair.receives.empty() || pair.q_key != one.wr.ud.remote_qkey || (every > 0 && fake().datagrams % every == 0);
}

// To a receive of the peer.
int send(FakePair& from, const ibv_send_wr& one) {
  const bool datagram = from.qp_type == IBV_QPT_UD;
  const auto peer = pairs().find(datagram ? one.wr.ud.remote_qpn : from.peer);
  if (peer == pairs().end()) return datagram ? 0 : EINVAL;
  if (datagram && lost(*peer->second, one)) return 0;
  const size_t header = datagram ? 40 : 0;
  Waiting message{.bytes = std::vector<uint8_t>(header + one.sg_list->length),
                  .lands = one.opcode != IBV_WR_RDMA_WRITE_WITH_IMM};
  copy(message.bytes.data() + header, reinterpret_cast<const void*>(one.sg_list->addr), one.sg_list->length);
  message.arrival.byte_len = static_cast<uint32_t>(message.bytes.size());
  message.arrival.imm_data = one.imm_data;
  peer->second->waiting.push_back(std::move(message));
  meet(*peer->second);
  return 0;
}

// To or from the memory of the peer.
int access(FakePair& from, const ibv_send_wr& one, uint64_t& offset) {
  const bool atomic = one.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const auto region = regions().find(atomic ? one.wr.atomic.rkey : one.wr.rdma.rkey);
  if (region == regions().end() || !pairs().contains(from.peer)) return EINVAL;
  offset =
      (atomic ? one.wr.atomic.remote_addr : one.wr.rdma.remote_addr) - reinterpret_cast<uint64_t>(region->second->addr);
  if (offset + one.sg_list->length > region->second->length) return EFAULT;
  auto* remote = static_cast<char*>(region->second->addr) + offset;
  auto* local = reinterpret_cast<char*>(one.sg_list->addr);
  if (one.opcode == IBV_WR_RDMA_READ) {
    copy(local, remote, one.sg_list->length);
    if (fake().flips_byte_of_reads >= 0) local[fake().flips_byte_of_reads] ^= 1;
  } else if (atomic) {
    if (offset % 8 != 0 || one.sg_list->length != 8) return EINVAL;
    uint64_t value = 0;
    copy(&value, remote, 8);
    copy(local, &value, 8);
    value += one.wr.atomic.compare_add;
    copy(remote, &value, 8);
  } else {
    copy(remote, local, one.sg_list->length);
  }
  return 0;
}

int post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** refused) {
  if (const int error = fault("post_send"); error != 0) {
    *refused = first;
    return error;
  }
  take_time(qp);
  const std::lock_guard lock(fake().mutex);
  fake().posted_by[qp->qp_num].insert(std::this_thread::get_id());
  auto& from = *static_cast<FakePair*>(qp);
  for (const ibv_send_wr* one = first; one != nullptr; one = one->next) {
    if (one->num_sge != 1) return EFAULT;
    const bool sends = one->opcode == IBV_WR_SEND || one->opcode == IBV_WR_SEND_WITH_IMM;
    uint64_t offset = 0;
    if (!sends)
      if (const int error = access(from, *one, offset); error != 0) return error;
    if (sends || one->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
      if (const int error = send(from, *one); error != 0) return error;
    if (fake().records)
      fake().posted.push_back({qp->qp_num, offset, one->sg_list->length, one->send_flags, one == first, one->opcode,
                               from.api && from.api->started});
    if ((one->send_flags & IBV_SEND_SIGNALED) == 0 || !fake().completes) continue;
    ibv_wc completion{};
    completion.wr_id = one->wr_id;
    completion.status = fake().completes_with;
    complete(qp->send_cq, completion);
  }
  return 0;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** refused) {
  if (const int error = fault("post_recv"); error != 0) {
    *refused = first;
    return error;
  }
  const std::lock_guard lock(fake().mutex);
  auto& pair = *static_cast<FakePair*>(qp);
  for (const ibv_recv_wr* one = first; one != nullptr; one = one->next) {
    pair.receives.push_back(*one);
    pair.places.push_back(*one->sg_list);
  }
  meet(pair);
  return 0;
}

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr*) {
  const std::lock_guard lock(fake().mutex);
  if (fake().devices[of(context).device].most_thread_domains-- <= 0) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* domain = made<ibv_td>("alloc_td");
  if (domain != nullptr) domain->context = context;
  return domain;
}
std::map<ibv_pd*, ibv_parent_domain_init_attr>& parents() {
  static std::map<ibv_pd*, ibv_parent_domain_init_attr> all;
  return all;
}
int dealloc_td(ibv_td* domain) {
  const std::lock_guard lock(fake().mutex);
  for (const auto& [parent, made_of] : parents()) EXPECT_NE(made_of.td, domain) << "a parent domain still uses it";
  return closed<ibv_td>(domain);
}
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* asked) {
  const std::lock_guard lock(fake().mutex);
  EXPECT_NE(asked->td, nullptr);
  auto* domain = made<ibv_pd>("alloc_parent_domain");
  if (domain == nullptr) return nullptr;
  domain->context = context;
  parents()[domain] = *asked;
  return domain;
}

// ---- the work request API: each call adds to what ibv_wr_complete posts
FakeApi& of(ibv_qp_ex* pair) {
  return *static_cast<FakeApi*>(pair);
}
ibv_send_wr& add(ibv_qp_ex* pair, ibv_wr_opcode opcode) {
  FakeApi& api = of(pair);
  EXPECT_TRUE(api.started);
  ibv_send_wr& one = api.requests.emplace_back();
  one.wr_id = pair->wr_id;
  one.send_flags = pair->wr_flags;
  one.opcode = opcode;
  return one;
}
void set_piece(ibv_qp_ex* pair, const ibv_sge& piece) {
  of(pair).pieces.push_back(piece);
  of(pair).requests.back().num_sge = 1;
}
void add_rdma(ibv_qp_ex* pair, ibv_wr_opcode opcode, uint32_t key, uint64_t address) {
  add(pair, opcode).wr.rdma = {.remote_addr = address, .rkey = key};
}
int complete_requests(ibv_qp_ex* pair) {
  FakeApi& api = of(pair);
  EXPECT_EQ(api.requests.size(), api.pieces.size());
  for (size_t i = 0; i < api.requests.size(); ++i) {
    api.requests[i].sg_list = &api.pieces[i];
    if (i > 0) api.requests[i - 1].next = &api.requests[i];
  }
  ibv_send_wr* refused = nullptr;
  const int status = post_send(api.pair, &api.requests.front(), &refused);
  api.started = false;
  return status;
}
void give_api(FakePair& pair) {
  pair.api = std::make_unique<FakeApi>();
  FakeApi& api = *pair.api;
  api.pair = &pair;
  api.qp_base.qp_type = pair.qp_type;
  api.wr_start = [](ibv_qp_ex* to) {
    of(to).requests.clear();
    of(to).pieces.clear();
    of(to).started = true;
  };
  api.wr_complete = complete_requests;
  api.wr_abort = [](ibv_qp_ex* to) { of(to).started = false; };
  api.wr_rdma_write = [](ibv_qp_ex* to, uint32_t key, uint64_t at) { add_rdma(to, IBV_WR_RDMA_WRITE, key, at); };
  api.wr_rdma_read = [](ibv_qp_ex* to, uint32_t key, uint64_t at) { add_rdma(to, IBV_WR_RDMA_READ, key, at); };
  api.wr_rdma_write_imm = [](ibv_qp_ex* to, uint32_t key, uint64_t at, __be32 imm) {
    add_rdma(to, IBV_WR_RDMA_WRITE_WITH_IMM, key, at);
    of(to).requests.back().imm_data = imm;
  };
  api.wr_atomic_fetch_add = [](ibv_qp_ex* to, uint32_t key, uint64_t at, uint64_t value) {
    add(to, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {.remote_addr = at, .compare_add = value, .swap = 0, .rkey = key};
  };
  api.wr_send = [](ibv_qp_ex* to) { add(to, IBV_WR_SEND); };
  api.wr_send_imm = [](ibv_qp_ex* to, __be32 imm) { add(to, IBV_WR_SEND_WITH_IMM).imm_data = imm; };
  api.wr_set_ud_addr = [](ibv_qp_ex* to, ibv_ah* way, uint32_t number, uint32_t key) {
    of(to).requests.back().wr.ud = {.ah = way, .remote_qpn = number, .remote_qkey = key};
  };
  api.wr_set_sge = [](ibv_qp_ex* to, uint32_t key, uint64_t at, uint32_t bytes) {
    set_piece(to, {.addr = at, .length = bytes, .lkey = key});
  };
  api.wr_set_inline_data = [](ibv_qp_ex* to, void* at, size_t bytes) {
    of(to).requests.back().send_flags |= IBV_SEND_INLINE;
    set_piece(to, {.addr = reinterpret_cast<uintptr_t>(at), .length = static_cast<uint32_t>(bytes), .lkey = 0});
  };
}
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* asked) {
  const std::lock_guard lock(fake().mutex);
  EXPECT_NE(asked->send_ops_flags, 0u);
  if (!fake().devices[of(context).device].has_work_requests) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  ibv_qp_init_attr plain{};
  plain.send_cq = asked->send_cq;
  plain.recv_cq = asked->recv_cq;
  plain.cap = asked->cap;
  plain.qp_type = asked->qp_type;
  ibv_qp* pair = ibv_create_qp(asked->pd, &plain);
  if (pair == nullptr) return nullptr;
  asked->cap = plain.cap;
  give_api(*static_cast<FakePair*>(pair));
  return pair;
}

int poll_cq(ibv_cq* queue, int most, ibv_wc* out) {
  if (fault("poll_cq") != 0) return -1;
  const std::lock_guard lock(fake().mutex);
  FakeQueue& own = of(queue);
  int count = 0;
  for (; count < most && !own.done.empty(); ++count) {
    out[count] = own.done.front();
    own.done.pop_front();
    own.device_ns.pop_front();
  }
  return count;
}

int req_notify_cq(ibv_cq* queue, int) {
  if (const int error = fault("req_notify_cq"); error != 0) return error;
  const std::lock_guard lock(fake().mutex);
  of(queue).armed = true;
  return 0;
}

// The extended form: a completion stays in the queue until the poll ends.
int start_poll(ibv_cq_ex* queue, ibv_poll_cq_attr*) {
  const std::lock_guard lock(fake().mutex);
  auto& own = *static_cast<FakeQueue*>(queue);
  if (own.done.empty()) return ENOENT;
  own.status = own.done.front().status;
  own.wr_id = own.done.front().wr_id;
  return 0;
}
void end_poll(ibv_cq_ex* queue) {
  const std::lock_guard lock(fake().mutex);
  auto& own = *static_cast<FakeQueue*>(queue);
  own.done.pop_front();
  own.device_ns.pop_front();
}
uint64_t read_wallclock(ibv_cq_ex* queue) {
  const std::lock_guard lock(fake().mutex);
  return static_cast<FakeQueue*>(queue)->device_ns.front();
}
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* asked) {
  const std::lock_guard lock(fake().mutex);
  if (!fake().has_device_clock) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* queue = made<FakeQueue>("ibv_create_cq_ex");
  if (queue == nullptr) return nullptr;
  queue->context = context;
  queue->channel = asked->channel;
  queue->start_poll = start_poll;
  queue->end_poll = end_poll;
  queue->read_completion_wallclock_ns = read_wallclock;
  return queue;
}

}  // namespace
}  // namespace railbed::perf

using railbed::perf::fake;
using railbed::perf::fault;

extern "C" {

struct ibv_device** ibv_get_device_list(int* count) {
  const std::lock_guard lock(fake().mutex);
  if (const int error = fault("ibv_get_device_list"); error != 0) {
    errno = error;
    return nullptr;
  }
  auto** list = new ibv_device*[fake().devices.size() + 1];
  for (size_t i = 0; i < fake().devices.size(); ++i) {
    list[i] = new ibv_device();
    std::strncpy(list[i]->name, fake().devices[i].name.c_str(), sizeof list[i]->name - 1);
    std::strncpy(list[i]->ibdev_path, "/nowhere", sizeof list[i]->ibdev_path - 1);
  }
  list[fake().devices.size()] = nullptr;
  *count = static_cast<int>(fake().devices.size());
  return list;
}
void ibv_free_device_list(struct ibv_device** list) {
  for (ibv_device** one = list; *one != nullptr; ++one) delete *one;
  delete[] list;
}
const char* ibv_get_device_name(struct ibv_device* device) {
  return device->name;
}
struct ibv_context* ibv_open_device(struct ibv_device* device) {
  const std::lock_guard lock(fake().mutex);
  auto* opened = railbed::perf::made<railbed::perf::FakeContext>("ibv_open_device");
  if (opened == nullptr) return nullptr;
  while (fake().devices[opened->device].name != device->name) ++opened->device;
  opened->own = *device;
  opened->sz = sizeof(verbs_context);
  opened->create_cq_ex = railbed::perf::create_cq_ex;
  ibv_context* context = &opened->context;
  context->abi_compat = __VERBS_ABI_IS_EXTENDED;
  context->device = &opened->own;
  context->ops.post_send = railbed::perf::post_send;
  context->ops.post_recv = railbed::perf::post_recv;
  context->ops.poll_cq = railbed::perf::poll_cq;
  context->ops.req_notify_cq = railbed::perf::req_notify_cq;
  const auto& device_of_it = fake().devices[opened->device];
  if (device_of_it.has_work_requests) opened->create_qp_ex = railbed::perf::create_qp_ex;
  if (!device_of_it.has_thread_domains) return context;
  opened->alloc_td = railbed::perf::alloc_td;
  opened->dealloc_td = railbed::perf::dealloc_td;
  opened->alloc_parent_domain = railbed::perf::alloc_parent_domain;
  return context;
}
int ibv_close_device(struct ibv_context* context) {
  const std::lock_guard lock(fake().mutex);
  return railbed::perf::closed<railbed::perf::FakeContext>(&railbed::perf::of(context));
}
int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* out) {
  const std::lock_guard lock(fake().mutex);
  if (const int error = fault("ibv_query_device"); error != 0) return error;
  const auto& device = fake().devices[railbed::perf::of(context).device];
  out->phys_port_cnt = static_cast<uint8_t>(device.ports.size());
  out->max_qp_init_rd_atom = device.reads_sent;
  out->max_qp_rd_atom = device.reads_answered;
  out->atomic_cap = device.has_atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
  return 0;
}
int ibv_query_port(struct ibv_context* context, uint8_t number, struct _compat_ibv_port_attr* old) {
  const std::lock_guard lock(fake().mutex);
  if (const int error = fault("ibv_query_port"); error != 0) return error;
  const auto& port = fake().devices[railbed::perf::of(context).device].ports[number - 1u];
  auto* out = reinterpret_cast<ibv_port_attr*>(old);
  out->state = port.state;
  out->link_layer = port.is_infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  out->lid = port.lid;
  out->active_mtu = port.mtu;
  return 0;
}
ssize_t _ibv_query_gid_table(struct ibv_context* context, struct ibv_gid_entry* out, size_t most, uint32_t, size_t) {
  const std::lock_guard lock(fake().mutex);
  if (const int error = fault("ibv_query_gid_table"); error != 0) return -error;
  const auto& gids = fake().devices[railbed::perf::of(context).device].gids;
  std::copy_n(gids.begin(), std::min(most, gids.size()), out);
  return static_cast<ssize_t>(gids.size());
}
struct ibv_pd* ibv_alloc_pd(struct ibv_context* context) {
  const std::lock_guard lock(fake().mutex);
  auto* domain = railbed::perf::made<ibv_pd>("ibv_alloc_pd");
  if (domain != nullptr) domain->context = context;
  return domain;
}
int ibv_dealloc_pd(struct ibv_pd* domain) {
  const std::lock_guard lock(fake().mutex);
  railbed::perf::parents().erase(domain);
  return railbed::perf::closed<ibv_pd>(domain);
}
int ibv_query_pkey(struct ibv_context* context, uint8_t, int index, __be16* key) {
  const std::lock_guard lock(fake().mutex);
  if (const int error = fault("ibv_query_pkey"); error != 0) return error;
  const auto& pkeys = fake().devices[railbed::perf::of(context).device].pkeys;
  if (index >= static_cast<int>(pkeys.size())) return EINVAL;
  *key = htobe16(pkeys[static_cast<size_t>(index)]);
  return 0;
}
struct ibv_ah* ibv_create_ah(struct ibv_pd* domain, struct ibv_ah_attr* way) {
  const std::lock_guard lock(fake().mutex);
  auto* handle = railbed::perf::made<ibv_ah>("ibv_create_ah");
  if (handle == nullptr) return nullptr;
  handle->pd = domain;
  fake().ways.push_back(*way);
  return handle;
}
int ibv_destroy_ah(struct ibv_ah* handle) {
  const std::lock_guard lock(fake().mutex);
  return railbed::perf::closed<ibv_ah>(handle);
}
struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
  errno = EOPNOTSUPP;
  return nullptr;
}
struct ibv_mr* ibv_reg_mr(struct ibv_pd* domain, void* at, size_t bytes, int access) {
  const std::lock_guard lock(fake().mutex);
  fake().registered.push_back({bytes, static_cast<unsigned>(access)});
  auto* region = railbed::perf::made<ibv_mr>("ibv_reg_mr");
  if (region == nullptr) return nullptr;
  *region = {.context = domain->context, .pd = domain, .addr = at, .length = bytes};
  region->lkey = region->rkey = railbed::perf::next_number();
  railbed::perf::regions()[region->rkey] = region;
  return region;
}
struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* domain, void* at, size_t bytes, uint64_t, unsigned access) {
  return ibv_reg_mr(domain, at, bytes, static_cast<int>(access));
}
int ibv_dereg_mr(struct ibv_mr* region) {
  const std::lock_guard lock(fake().mutex);
  railbed::perf::regions().erase(region->rkey);
  return railbed::perf::closed<ibv_mr>(region);
}
struct ibv_cq* ibv_create_cq(struct ibv_context* context, int entries, void*, struct ibv_comp_channel* channel, int) {
  const std::lock_guard lock(fake().mutex);
  auto* queue = railbed::perf::made<railbed::perf::FakeQueue>("ibv_create_cq");
  if (queue == nullptr) return nullptr;
  queue->context = context;
  queue->channel = channel;
  fake().completion_queues.push_back(entries);
  return ibv_cq_ex_to_cq(queue);
}
int ibv_destroy_cq(struct ibv_cq* queue) {
  const std::lock_guard lock(fake().mutex);
  return railbed::perf::closed<railbed::perf::FakeQueue>(&railbed::perf::of(queue));
}
struct ibv_comp_channel* ibv_create_comp_channel(struct ibv_context* context) {
  auto* channel = railbed::perf::made<ibv_comp_channel>("ibv_create_comp_channel");
  if (channel == nullptr) return nullptr;
  channel->context = context;
  channel->fd = eventfd(0, EFD_SEMAPHORE);
  return channel;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel* channel) {
  close(channel->fd);
  return railbed::perf::closed<ibv_comp_channel>(channel);
}
int ibv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** queue, void**) {
  eventfd_t count = 0;
  *queue = nullptr;
  return eventfd_read(channel->fd, &count);
}
void ibv_ack_cq_events(struct ibv_cq*, unsigned) {}
struct ibv_qp* ibv_create_qp(struct ibv_pd* domain, struct ibv_qp_init_attr* asked) {
  const std::lock_guard lock(fake().mutex);
  const auto& device = fake().devices[railbed::perf::of(domain->context).device];
  if (asked->cap.max_inline_data > device.most_inline) {
    errno = EINVAL;
    return nullptr;
  }
  auto* qp = railbed::perf::made<railbed::perf::FakePair>("ibv_create_qp");
  if (qp == nullptr) return nullptr;
  fake().queue_pairs.push_back(*asked);
  fake().in_thread_domains.push_back(railbed::perf::parents().contains(domain));
  asked->cap.max_inline_data = std::max(asked->cap.max_inline_data, device.least_inline);
  qp->context = domain->context;
  qp->pd = domain;
  qp->qp_type = asked->qp_type;
  qp->send_cq = asked->send_cq;
  qp->recv_cq = asked->recv_cq;
  qp->qp_num = railbed::perf::next_number();
  railbed::perf::pairs()[qp->qp_num] = qp;
  return qp;
}
int ibv_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* asked, int mask) {
  const std::lock_guard lock(fake().mutex);
  if (const int error = fault("ibv_modify_qp"); error != 0) return error;
  if ((mask & IBV_QP_DEST_QPN) != 0) static_cast<railbed::perf::FakePair*>(qp)->peer = asked->dest_qp_num;
  if ((mask & IBV_QP_QKEY) != 0) static_cast<railbed::perf::FakePair*>(qp)->q_key = asked->qkey;
  fake().modified.push_back({qp->qp_num, *asked, mask});
  return 0;
}
struct ibv_qp_ex* ibv_qp_to_qp_ex(struct ibv_qp* qp) {
  return static_cast<railbed::perf::FakePair*>(qp)->api.get();
}
int ibv_destroy_qp(struct ibv_qp* qp) {
  const std::lock_guard lock(fake().mutex);
  railbed::perf::pairs().erase(qp->qp_num);
  return railbed::perf::closed<railbed::perf::FakePair>(qp);
}

const char* ibv_wc_status_str(ibv_wc_status status) {
  return status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded" : "another completion";
}

}  // extern "C"
