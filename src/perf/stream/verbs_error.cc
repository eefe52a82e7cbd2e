// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <sys/resource.h>

#include "perf/stream/verbs.h"

namespace railbed::perf {

ibv_mtu mtu_code(int bytes) {
  ibv_mtu code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && (128 << (code + 1)) <= bytes) code = static_cast<ibv_mtu>(code + 1);
  return code;
}

Error port_down(const std::string& device, const PortFacts& port) {
  constexpr std::string_view kNames[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  const auto number = static_cast<size_t>(port.state);
  Error error{.code = Code::kIo,
              .sys_errno = 0,
              .message = fmt::format("{} port {} is {}, not ACTIVE", device, port.number,
                                     number < std::size(kNames) ? kNames[number] : "in an unknown state"),
              .context = {},
              .hint = ""};
  if (!port.is_infiniband)
    error.hint = "bring its network interface up (`ip link set NAME up`) and check the cable and the switch port";
  else if (port.state == IBV_PORT_INIT || port.state == IBV_PORT_ARMED)
    error.hint =
        "the link is up but no subnet manager has configured it: check `sminfo`, and the VF's GUID and link state";
  else
    error.hint = "check the cable, and for a VF its link state (`ip link set PF vf N state enable`)";
  return error;
}

Error registration_failed(int sys_errno, size_t bytes, uint64_t memlock_bytes, const std::string& device) {
  Error error = system_error(sys_errno, fmt::format("registering {} bytes of memory with {}", bytes, device));
  if (sys_errno != ENOMEM && sys_errno != EAGAIN && sys_errno != EPERM) return error;
  if (memlock_bytes == RLIM_INFINITY || memlock_bytes >= 2 * bytes) {
    error.hint = "the memory cannot be pinned: a container's memory limit, or the device's limit of regions";
    return error;
  }
  error.code = Code::kExhausted;
  error.hint = fmt::format(
      "the limit of locked memory is {} KiB: raise it with `ulimit -l unlimited` (pods: capability IPC_LOCK; services: "
      "LimitMEMLOCK=infinity), or measure smaller sizes with --max-size or --size",
      memlock_bytes / 1024);
  return error;
}

Error gpu_registration_failed(int sys_errno, const std::string& memory, const std::string& device) {
  Error error = system_error(sys_errno, fmt::format("registering the memory of {} with {}", memory, device));
  error.hint =
      sys_errno == EOPNOTSUPP || sys_errno == EPROTONOSUPPORT
          ? "its driver, or libibverbs (34 and newer have it), does not support DMA-BUF; measure with --memory host"
          : "the NIC must reach the GPU over PCIe: IOMMU and ACS may prevent it; measure with --memory host";
  return error;
}

Error connect_failed(int sys_errno, std::string_view to_state, const QueuePairPath& path, const std::string& device) {
  const std::string peer = path.is_global ? fmt::format("GID {}", rdma::address_of(path.remote_gid))
                                          : fmt::format("LID {}", path.remote_lid);
  Error error =
      system_error(sys_errno, fmt::format("bringing a queue pair of {} to {} toward {}", device, to_state, peer));
  switch (sys_errno) {
    case ENETUNREACH:
    case EHOSTUNREACH:
      error.code = Code::kNotFound;
      error.hint = fmt::format(
          "no route to {} from the interface of GID {}: rails are separate networks, so both ends must be on the same "
          "one; `ip route get` shows the way",
          peer, path.gid_index);
      break;
    case ETIMEDOUT:
    case ENODATA:
      error.code = Code::kTimeout;
      error.hint =
          fmt::format("no ARP or ND reply for {}; check that the peer's interface is up and on the same network", peer);
      break;
    case EINVAL:
    case ENODEV:
      error.code = Code::kInvalid;
      error.hint = fmt::format(
          "local GID {} may be removed, belong to another network namespace, or differ in family or RoCE version from "
          "the peer's; use --gid-rule auto",
          path.gid_index);
      break;
    default:
      break;
  }
  return error;
}

Error completion_failed(ibv_wc_status status, std::string_view operation, const std::string& device) {
  Error error{.code = Code::kIo,
              .sys_errno = 0,
              .message = fmt::format("{} on {}: {}", operation, device, ibv_wc_status_str(status)),
              .context = {},
              .hint = ""};
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      error.code = Code::kTimeout;
      error.hint =
          "the peer's NIC did not acknowledge: the peer exited, its GID or path MTU is wrong, or UDP port 4791 is "
          "dropped on the path (firewall, VLAN, PFC)";
      break;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      error.code = Code::kTimeout;
      error.hint = "the peer is reachable but does not keep up";
      break;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      error.hint = "the peer refused it: it moved on to another test, or its memory is no longer registered";
      break;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
      error.code = Code::kInternal;
      error.hint = "this is a defect of railbed or of the device's driver";
      break;
    case IBV_WC_WR_FLUSH_ERR:
      error.hint = "the queue pair is already in the error state; see the first error";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace railbed::perf
