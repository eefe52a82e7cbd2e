// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/verbs.h"

#include <algorithm>
#include <cerrno>

#include <endian.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "perf/stream/verbs_library.h"

namespace railbed::perf {
namespace {

struct DeviceList {
  int count = 0;  // declared before devices, whose initialisation sets it
  ibv_device** devices;
  DeviceList() : devices(ibv_get_device_list(&count)) {}
  ~DeviceList() {
    if (devices != nullptr) ibv_free_device_list(devices);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
};

bool exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

// Software devices are on a network interface and have no PCI device; rxe names the interface in `parent`.
bool is_software(const std::string& name, const std::string& sysfs) {
  if (name.starts_with("rxe") || name.starts_with("siw")) return true;
  if (!exists(sysfs)) return false;  // sysfs is hidden, so assume hardware
  return exists(sysfs + "/parent") || !exists(sysfs + "/device");
}

Error no_devices() {
  return {.code = Code::kNotFound,
          .sys_errno = 0,
          .message = "this machine has no RDMA device",
          .context = {},
          .hint =
              "`rdma link` lists them; load the NIC's RDMA driver (mlx5_ib, irdma, bnxt_re), or create a soft one with "
              "`rdma link add rxe0 type rxe netdev NAME`, or measure plain sockets with --tcp"};
}

}  // namespace

void ThreadDomain::Close::operator()(ibv_td* closing) const {
  ibv_dealloc_td(closing);
}

ThreadDomain ThreadDomain::make(ibv_context* context, ibv_pd* domain) {
  ThreadDomain made;
  ibv_td_init_attr thread{};
  made.thread.reset(ibv_alloc_td(context, &thread));
  if (!made.thread) return made;
  ibv_parent_domain_init_attr parent{};
  parent.pd = domain;
  parent.td = made.thread.get();
  made.parent.reset(ibv_alloc_parent_domain(context, &parent));
  if (!made.parent) made.thread.reset();
  return made;
}

Result<std::vector<std::string>> RdmaDevice::names() {
  TRY(load_verbs());
  const DeviceList list;
  // ENOSYS: without the ib_uverbs module there are no devices.
  if (list.devices == nullptr && errno != ENOSYS) return fail(system_error(errno, "listing RDMA devices"));
  std::vector<std::string> names;
  for (int i = 0; i < list.count; ++i) names.emplace_back(ibv_get_device_name(list.devices[i]));
  return names;
}

Result<RdmaDevice> RdmaDevice::open(const std::string& name) {
  TRY(load_verbs());
  const DeviceList list;
  if (list.count == 0) return fail(no_devices());
  std::string known;
  for (int i = 0; i < list.count; ++i) {
    if (name != ibv_get_device_name(list.devices[i])) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", ibv_get_device_name(list.devices[i]));
      continue;
    }
    RdmaDevice device;
    errno = 0;
    device.context_.reset(ibv_open_device(list.devices[i]));
    if (!device.context_) {
      Error error = system_error(errno != 0 ? errno : ENODEV, fmt::format("opening RDMA device {}", name));
      error.hint = "check that /dev/infiniband/uverbs* is readable; in a pod it comes with the RDMA resource";
      return fail(std::move(error));
    }
    ibv_device_attr attributes{};
    if (const int status = ibv_query_device(device.context_.get(), &attributes); status != 0)
      return fail(system_error(status, fmt::format("querying RDMA device {}", name)));
    device.name_ = name;
    device.soft_ = is_software(name, list.devices[i]->ibdev_path);
    device.port_count_ = attributes.phys_port_cnt;
    device.limits_ = {.reads_sent = static_cast<uint32_t>(std::max(0, attributes.max_qp_init_rd_atom)),
                      .reads_answered = static_cast<uint32_t>(std::max(0, attributes.max_qp_rd_atom)),
                      .has_atomics = attributes.atomic_cap != IBV_ATOMIC_NONE};
    return device;
  }
  return fail(Error{.code = Code::kNotFound,
                    .sys_errno = 0,
                    .message = fmt::format("no RDMA device {}", name),
                    .context = {},
                    .hint = fmt::format("this machine has {}", known)});
}

Result<PortFacts> RdmaDevice::port(int number) const {
  ibv_port_attr attributes{};
  if (const int status = ibv_query_port(context_.get(), static_cast<uint8_t>(number), &attributes); status != 0)
    return fail(system_error(status, fmt::format("querying {} port {}", name_, number)));
  PortFacts facts{.number = number,
                  .state = attributes.state,
                  .is_infiniband = attributes.link_layer == IBV_LINK_LAYER_INFINIBAND,
                  .lid = attributes.lid,
                  .mtu_bytes = 128 << attributes.active_mtu,
                  .gids = {}};
  // Returns only valid entries. An ioctl attribute holds less than 64 KiB; a longer table is refused (EINVAL).
  std::vector<ibv_gid_entry> entries(65000 / sizeof(ibv_gid_entry));
  const ssize_t count = ibv_query_gid_table(context_.get(), entries.data(), entries.size(), 0);
  if (count < 0) return fail(system_error(static_cast<int>(-count), fmt::format("reading the GIDs of {}", name_)));
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = entries[static_cast<size_t>(i)];
    if (static_cast<int>(entry.port_num) != number) continue;
    rdma::GidEntry gid{.gid = {},
                       .index = static_cast<int>(entry.gid_index),
                       .port = number,
                       .type = static_cast<rdma::GidType>(entry.gid_type),
                       .netdev = IfIndex{static_cast<int>(entry.ndev_ifindex)}};
    std::copy(std::begin(entry.gid.raw), std::end(entry.gid.raw), gid.gid.bytes.begin());
    facts.gids.push_back(gid);
  }
  return facts;
}

Result<uint16_t> RdmaDevice::pkey(int port, int64_t index) const {
  uint16_t key = 0;  // big-endian
  const int status = ibv_query_pkey(context_.get(), static_cast<uint8_t>(port), static_cast<int>(index), &key);
  if (status == 0 && (key != 0 || index == 0)) return be16toh(key);
  if (index == 0) return uint16_t{0};
  return fail(
      Error{.code = Code::kInvalid,
            .message = fmt::format("pkey-index: {} port {} has no partition key with index {}", name_, port, index),
            .hint = fmt::format("/sys/class/infiniband/{}/ports/{}/pkeys lists the keys; on Ethernet there is only "
                                "index 0",
                                name_, port)});
}

Result<MemoryRegion> MemoryRegion::create(ibv_pd* domain, std::unique_ptr<Memory> memory, unsigned access,
                                          const std::string& device) {
  MemoryRegion result;
  result.memory_ = std::move(memory);
  const Memory& own = *result.memory_;
  const int flags = static_cast<int>(access);
  if (own.dma_buf() >= 0)
    result.region_.reset(
        ibv_reg_dmabuf_mr(domain, 0, own.bytes(), reinterpret_cast<uintptr_t>(own.data()), own.dma_buf(), flags));
  else
    result.region_.reset(ibv_reg_mr(domain, own.data(), own.bytes(), flags));
  if (!result.region_) {
    const int error = errno;
    if (own.dma_buf() >= 0) return fail(gpu_registration_failed(error, own.text(), device));
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return fail(registration_failed(error, own.bytes(), limit.rlim_cur, device));
  }
  return result;
}

Result<void> initialise(ibv_qp* qp, const QueuePairStart& start, const std::string& device) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = static_cast<uint16_t>(start.pkey_index);
  attributes.port_num = static_cast<uint8_t>(start.port);
  attributes.qp_access_flags = start.access;
  attributes.qkey = start.q_key.value_or(0);
  const int last = start.q_key ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  const int status = ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last);
  if (status != 0) return fail(system_error(status, fmt::format("bringing a queue pair of {} to INIT", device)));
  return {};
}

namespace {

ibv_ah_attr way_of(const QueuePairPath& path) {
  ibv_ah_attr way{};
  way.port_num = static_cast<uint8_t>(path.port);
  way.dlid = static_cast<uint16_t>(path.remote_lid);
  way.sl = static_cast<uint8_t>(path.service_level);
  way.is_global = path.is_global ? 1 : 0;
  std::copy(path.remote_gid.bytes.begin(), path.remote_gid.bytes.end(), way.grh.dgid.raw);
  way.grh.sgid_index = static_cast<uint8_t>(path.gid_index);
  way.grh.hop_limit = 64;
  way.grh.flow_label = path.flow_label;
  way.grh.traffic_class = static_cast<uint8_t>(path.traffic_class);
  return way;
}

}  // namespace

Result<void> connect(ibv_qp* qp, const QueuePairPath& path, const std::string& device) {
  ibv_qp_attr rtr{};
  rtr.qp_state = IBV_QPS_RTR;
  rtr.path_mtu = mtu_code(path.mtu_bytes);
  rtr.dest_qp_num = path.remote_qp;
  rtr.rq_psn = path.remote_sequence;
  rtr.max_dest_rd_atomic = static_cast<uint8_t>(path.reads_answered);
  rtr.min_rnr_timer = 12;
  rtr.ah_attr = way_of(path);
  int status = ibv_modify_qp(qp, &rtr,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (status != 0) return fail(connect_failed(status, "RTR", path, device));
  ibv_qp_attr rts{};
  rts.qp_state = IBV_QPS_RTS;
  rts.timeout = 14;  // 67 ms; with 7 retries a dead peer is noticed within seconds
  rts.retry_cnt = 7;
  rts.rnr_retry = 7;
  rts.sq_psn = path.local_sequence;
  rts.max_rd_atomic = static_cast<uint8_t>(path.reads_sent);
  status = ibv_modify_qp(
      qp, &rts,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (status != 0) return fail(connect_failed(status, "RTS", path, device));
  return {};
}

Result<AddressHandlePtr> connect_datagrams(ibv_qp* qp, const QueuePairPath& path, const std::string& device) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  int status = ibv_modify_qp(qp, &attributes, IBV_QP_STATE);
  if (status != 0) return fail(connect_failed(status, "RTR", path, device));
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = path.local_sequence;
  status = ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  if (status != 0) return fail(connect_failed(status, "RTS", path, device));
  ibv_ah_attr way = way_of(path);
  AddressHandlePtr handle(ibv_create_ah(qp->pd, &way));
  if (!handle) return fail(connect_failed(errno, "its address handle", path, device));
  return handle;
}

}  // namespace railbed::perf
