// SPDX-License-Identifier: Apache-2.0
#include "perf/verbs.h"

#include <cerrno>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "perf/verbs_library.h"

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
              "`rdma link` lists them; load the NIC's RDMA driver (mlx5_ib, irdma, bnxt_re), or make a soft one with "
              "`rdma link add rxe0 type rxe netdev NAME`, or measure plain sockets with --tcp"};
}

}  // namespace

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
      error.hint = "is /dev/infiniband/uverbs* there and readable? In a pod it comes with the RDMA resource";
      return fail(std::move(error));
    }
    ibv_device_attr attributes{};
    if (const int status = ibv_query_device(device.context_.get(), &attributes); status != 0)
      return fail(system_error(status, fmt::format("querying RDMA device {}", name)));
    device.name_ = name;
    device.soft_ = is_software(name, list.devices[i]->ibdev_path);
    device.port_count_ = attributes.phys_port_cnt;
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
    GidEntry gid{.gid = {},
                 .index = static_cast<int>(entry.gid_index),
                 .port = number,
                 .type = static_cast<GidType>(entry.gid_type),
                 .netdev = IfIndex{static_cast<int>(entry.ndev_ifindex)}};
    std::copy(std::begin(entry.gid.raw), std::end(entry.gid.raw), gid.gid.bytes.begin());
    facts.gids.push_back(gid);
  }
  return facts;
}

void UnmapPages::operator()(std::byte* memory) const {
  munmap(memory, bytes);
}

Result<MemoryRegion> MemoryRegion::create(ibv_pd* domain, size_t bytes, const std::string& device) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return fail(system_error(errno, fmt::format("getting {} bytes of memory", bytes)));
  MemoryRegion result;
  result.memory_ = std::unique_ptr<std::byte, UnmapPages>(static_cast<std::byte*>(memory), UnmapPages{bytes});
  result.region_.reset(ibv_reg_mr(domain, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (!result.region_) {
    const int error = errno;
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return fail(registration_failed(error, bytes, limit.rlim_cur, device));
  }
  return result;
}

Result<void> initialise(ibv_qp* qp, int port, const std::string& device) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = static_cast<uint8_t>(port);
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  const int status =
      ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (status != 0) return fail(system_error(status, fmt::format("bringing a queue pair of {} to INIT", device)));
  return {};
}

Result<void> connect(ibv_qp* qp, const QueuePairPath& path, const std::string& device) {
  ibv_qp_attr rtr{};
  rtr.qp_state = IBV_QPS_RTR;
  rtr.path_mtu = mtu_code(path.mtu_bytes);
  rtr.dest_qp_num = path.remote_qp;
  rtr.rq_psn = path.remote_sequence;
  rtr.max_dest_rd_atomic = 1;
  rtr.min_rnr_timer = 12;
  rtr.ah_attr.port_num = static_cast<uint8_t>(path.port);
  rtr.ah_attr.dlid = static_cast<uint16_t>(path.remote_lid);
  rtr.ah_attr.is_global = path.is_global ? 1 : 0;
  std::copy(path.remote_gid.bytes.begin(), path.remote_gid.bytes.end(), rtr.ah_attr.grh.dgid.raw);
  rtr.ah_attr.grh.sgid_index = static_cast<uint8_t>(path.gid_index);
  rtr.ah_attr.grh.hop_limit = 64;
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
  rts.max_rd_atomic = 1;
  status = ibv_modify_qp(
      qp, &rts,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (status != 0) return fail(connect_failed(status, "RTS", path, device));
  return {};
}

}  // namespace railbed::perf
