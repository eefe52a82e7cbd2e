// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/cm_library.h"

#include <dlfcn.h>
#include <rdma/rdma_cma.h>

#include "perf/stream/verbs_library.h"

#define RAILBED_CM(X)           \
  X(rdma_accept)                \
  X(rdma_ack_cm_event)          \
  X(rdma_bind_addr)             \
  X(rdma_connect)               \
  X(rdma_create_event_channel)  \
  X(rdma_create_id)             \
  X(rdma_create_qp)             \
  X(rdma_destroy_event_channel) \
  X(rdma_destroy_id)            \
  X(rdma_destroy_qp)            \
  X(rdma_disconnect)            \
  X(rdma_get_cm_event)          \
  X(rdma_listen)                \
  X(rdma_reject)                \
  X(rdma_resolve_addr)          \
  X(rdma_resolve_route)

namespace railbed::perf {
namespace {

constexpr const char* kCmLibrary = "librdmacm.so.1";

struct CmLibrary {
#define RAILBED_DECLARE(name) decltype(&::name) name = nullptr;
  RAILBED_CM(RAILBED_DECLARE)
#undef RAILBED_DECLARE
};

Error cm_missing(const char* what) {
  const char* why = ::dlerror();
  return {
      .code = Code::kNotFound,
      .message = fmt::format("the connection manager needs librdmacm, and {}: {}", what, why ? why : "unknown reason"),
      .hint = "apt-get install librdmacm1"};
}

Result<CmLibrary> found_cm() {
  TRY(load_verbs());
  void* library = ::dlopen(kCmLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(cm_missing("it cannot be loaded"));
  CmLibrary out;
#define RAILBED_FIND(name)                                                 \
  out.name = reinterpret_cast<decltype(&::name)>(::dlsym(library, #name)); \
  if (out.name == nullptr) return fail(cm_missing("the library found lacks " #name));
  RAILBED_CM(RAILBED_FIND)
#undef RAILBED_FIND
  return out;
}

const Result<CmLibrary>& loaded_cm() {
  static const Result<CmLibrary> library = found_cm();
  return library;
}

// Passes a call on. The library is there: load_cm() comes before every call.
template <auto Function, typename... Arguments>
auto pass_to_cm(Arguments... arguments) {
  return ((*loaded_cm()).*Function)(arguments...);
}

}  // namespace

Result<void> load_cm() {
  if (!loaded_cm()) return fail(Error(loaded_cm().error()));
  return {};
}

extern "C" {

int rdma_accept(rdma_cm_id* id, rdma_conn_param* parameters) {
  return pass_to_cm<&CmLibrary::rdma_accept>(id, parameters);
}
int rdma_ack_cm_event(rdma_cm_event* event) {
  return pass_to_cm<&CmLibrary::rdma_ack_cm_event>(event);
}
int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  return pass_to_cm<&CmLibrary::rdma_bind_addr>(id, address);
}
int rdma_connect(rdma_cm_id* id, rdma_conn_param* parameters) {
  return pass_to_cm<&CmLibrary::rdma_connect>(id, parameters);
}
rdma_event_channel* rdma_create_event_channel() {
  return pass_to_cm<&CmLibrary::rdma_create_event_channel>();
}
int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space space) {
  return pass_to_cm<&CmLibrary::rdma_create_id>(channel, id, context, space);
}
int rdma_create_qp(rdma_cm_id* id, ibv_pd* domain, ibv_qp_init_attr* attributes) {
  return pass_to_cm<&CmLibrary::rdma_create_qp>(id, domain, attributes);
}
void rdma_destroy_event_channel(rdma_event_channel* channel) {
  pass_to_cm<&CmLibrary::rdma_destroy_event_channel>(channel);
}
int rdma_destroy_id(rdma_cm_id* id) {
  return pass_to_cm<&CmLibrary::rdma_destroy_id>(id);
}
void rdma_destroy_qp(rdma_cm_id* id) {
  pass_to_cm<&CmLibrary::rdma_destroy_qp>(id);
}
int rdma_disconnect(rdma_cm_id* id) {
  return pass_to_cm<&CmLibrary::rdma_disconnect>(id);
}
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  return pass_to_cm<&CmLibrary::rdma_get_cm_event>(channel, event);
}
int rdma_listen(rdma_cm_id* id, int backlog) {
  return pass_to_cm<&CmLibrary::rdma_listen>(id, backlog);
}
int rdma_reject(rdma_cm_id* id, const void* data, uint8_t bytes) {
  return pass_to_cm<&CmLibrary::rdma_reject>(id, data, bytes);
}
int rdma_resolve_addr(rdma_cm_id* id, sockaddr* from, sockaddr* to, int timeout_ms) {
  return pass_to_cm<&CmLibrary::rdma_resolve_addr>(id, from, to, timeout_ms);
}
int rdma_resolve_route(rdma_cm_id* id, int timeout_ms) {
  return pass_to_cm<&CmLibrary::rdma_resolve_route>(id, timeout_ms);
}

}  // extern "C"

}  // namespace railbed::perf
