// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/verbs_library.h"

#include <cerrno>

#include <dlfcn.h>
#include <infiniband/verbs.h>

// These are macros for inline functions, which end at the functions of the same names below.
#undef ibv_query_port
#undef ibv_reg_mr

#define RAILBED_VERBS(X)      \
  X(_ibv_query_gid_table)     \
  X(ibv_ack_cq_events)        \
  X(ibv_alloc_pd)             \
  X(ibv_close_device)         \
  X(ibv_create_ah)            \
  X(ibv_create_comp_channel)  \
  X(ibv_create_cq)            \
  X(ibv_create_qp)            \
  X(ibv_dealloc_pd)           \
  X(ibv_dereg_mr)             \
  X(ibv_destroy_ah)           \
  X(ibv_destroy_comp_channel) \
  X(ibv_destroy_cq)           \
  X(ibv_destroy_qp)           \
  X(ibv_free_device_list)     \
  X(ibv_get_cq_event)         \
  X(ibv_get_device_list)      \
  X(ibv_get_device_name)      \
  X(ibv_modify_qp)            \
  X(ibv_open_device)          \
  X(ibv_query_device)         \
  X(ibv_query_pkey)           \
  X(ibv_query_port)           \
  X(ibv_reg_mr)               \
  X(ibv_reg_mr_iova2)         \
  X(ibv_wc_status_str)

namespace railbed::perf {
namespace {

constexpr const char* kVerbsLibrary = "libibverbs.so.1";

struct VerbsLibrary {
#define RAILBED_DECLARE(name) decltype(&::name) name = nullptr;
  RAILBED_VERBS(RAILBED_DECLARE)
#undef RAILBED_DECLARE
  // Absent in an older library:
  decltype(&::ibv_reg_dmabuf_mr) ibv_reg_dmabuf_mr = nullptr;
  decltype(&::ibv_qp_to_qp_ex) ibv_qp_to_qp_ex = nullptr;
};

Error verbs_missing(const char* what) {
  const char* why = ::dlerror();
  return {.code = Code::kNotFound,
          .message = fmt::format("RDMA needs libibverbs, and {}: {}", what, why ? why : "unknown reason"),
          .hint = "apt-get install libibverbs1 ibverbs-providers, or measure plain sockets with --tcp"};
}

Result<VerbsLibrary> found_verbs() {
  void* library = ::dlopen(kVerbsLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(verbs_missing("it cannot be loaded"));
  VerbsLibrary out;
#define RAILBED_FIND(name)                                                 \
  out.name = reinterpret_cast<decltype(&::name)>(::dlsym(library, #name)); \
  if (out.name == nullptr) return fail(verbs_missing("the library found lacks " #name));
  RAILBED_VERBS(RAILBED_FIND)
#undef RAILBED_FIND
  out.ibv_reg_dmabuf_mr = reinterpret_cast<decltype(&::ibv_reg_dmabuf_mr)>(::dlsym(library, "ibv_reg_dmabuf_mr"));
  out.ibv_qp_to_qp_ex = reinterpret_cast<decltype(&::ibv_qp_to_qp_ex)>(::dlsym(library, "ibv_qp_to_qp_ex"));
  return out;
}

const Result<VerbsLibrary>& loaded_verbs() {
  static const Result<VerbsLibrary> library = found_verbs();
  return library;
}

}  // namespace

Result<void> load_verbs() {
  if (!loaded_verbs()) return fail(Error(loaded_verbs().error()));
  return {};
}

// Passes a call on. The library is there: load_verbs() comes before every call.
template <auto Function, typename... Arguments>
auto pass_to_verbs(Arguments... arguments) {
  return ((*loaded_verbs()).*Function)(arguments...);
}

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  return pass_to_verbs<&VerbsLibrary::ibv_get_device_list>(count);
}
void ibv_free_device_list(ibv_device** list) {
  pass_to_verbs<&VerbsLibrary::ibv_free_device_list>(list);
}
const char* ibv_get_device_name(ibv_device* device) {
  return pass_to_verbs<&VerbsLibrary::ibv_get_device_name>(device);
}
ibv_context* ibv_open_device(ibv_device* device) {
  return pass_to_verbs<&VerbsLibrary::ibv_open_device>(device);
}
int ibv_close_device(ibv_context* context) {
  return pass_to_verbs<&VerbsLibrary::ibv_close_device>(context);
}
int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  return pass_to_verbs<&VerbsLibrary::ibv_query_device>(context, attributes);
}
int ibv_query_port(ibv_context* context, uint8_t port, _compat_ibv_port_attr* attributes) {
  return pass_to_verbs<&VerbsLibrary::ibv_query_port>(context, port, attributes);
}
ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t most, uint32_t flags, size_t size) {
  return pass_to_verbs<&VerbsLibrary::_ibv_query_gid_table>(context, entries, most, flags, size);
}
ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return pass_to_verbs<&VerbsLibrary::ibv_alloc_pd>(context);
}
int ibv_dealloc_pd(ibv_pd* domain) {
  return pass_to_verbs<&VerbsLibrary::ibv_dealloc_pd>(domain);
}
ibv_mr* ibv_reg_mr(ibv_pd* domain, void* memory, size_t bytes, int access) {
  return pass_to_verbs<&VerbsLibrary::ibv_reg_mr>(domain, memory, bytes, access);
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* memory, size_t bytes, uint64_t iova, unsigned access) {
  return pass_to_verbs<&VerbsLibrary::ibv_reg_mr_iova2>(domain, memory, bytes, iova, access);
}
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* domain, uint64_t offset, size_t bytes, uint64_t iova, int file, int access) {
  if (loaded_verbs()->ibv_reg_dmabuf_mr != nullptr)
    return loaded_verbs()->ibv_reg_dmabuf_mr(domain, offset, bytes, iova, file, access);
  errno = EOPNOTSUPP;
  return nullptr;
}
ibv_ah* ibv_create_ah(ibv_pd* domain, ibv_ah_attr* way) {
  return pass_to_verbs<&VerbsLibrary::ibv_create_ah>(domain, way);
}
int ibv_destroy_ah(ibv_ah* handle) {
  return pass_to_verbs<&VerbsLibrary::ibv_destroy_ah>(handle);
}
int ibv_query_pkey(ibv_context* context, uint8_t port, int index, __be16* key) {
  return pass_to_verbs<&VerbsLibrary::ibv_query_pkey>(context, port, index, key);
}
int ibv_dereg_mr(ibv_mr* region) {
  return pass_to_verbs<&VerbsLibrary::ibv_dereg_mr>(region);
}
ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cookie, ibv_comp_channel* channel, int vector) {
  return pass_to_verbs<&VerbsLibrary::ibv_create_cq>(context, entries, cookie, channel, vector);
}
ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return pass_to_verbs<&VerbsLibrary::ibv_create_comp_channel>(context);
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return pass_to_verbs<&VerbsLibrary::ibv_destroy_comp_channel>(channel);
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** cookie) {
  return pass_to_verbs<&VerbsLibrary::ibv_get_cq_event>(channel, queue, cookie);
}
void ibv_ack_cq_events(ibv_cq* queue, unsigned events) {
  pass_to_verbs<&VerbsLibrary::ibv_ack_cq_events>(queue, events);
}
int ibv_destroy_cq(ibv_cq* queue) {
  return pass_to_verbs<&VerbsLibrary::ibv_destroy_cq>(queue);
}
ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) {
  return pass_to_verbs<&VerbsLibrary::ibv_create_qp>(domain, attributes);
}
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* pair) {
  return loaded_verbs()->ibv_qp_to_qp_ex != nullptr ? loaded_verbs()->ibv_qp_to_qp_ex(pair) : nullptr;
}
int ibv_modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) {
  return pass_to_verbs<&VerbsLibrary::ibv_modify_qp>(pair, attributes, mask);
}
int ibv_destroy_qp(ibv_qp* pair) {
  return pass_to_verbs<&VerbsLibrary::ibv_destroy_qp>(pair);
}
const char* ibv_wc_status_str(ibv_wc_status status) {
  return pass_to_verbs<&VerbsLibrary::ibv_wc_status_str>(status);
}

}  // extern "C"

}  // namespace railbed::perf
