// SPDX-License-Identifier: Apache-2.0
// Everything that needs no device: the explanations, and the pacing of posts.
#include "perf/stream/verbs.h"

#include <cerrno>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "perf/stream/traffic.h"

namespace railbed::perf {
namespace {

TEST(VerbsErrors, NameTheLimitOfLockedMemory) {
  EXPECT_EQ(registration_failed(ENOMEM, 131072, 65536, "mlx5_0").to_string(),
            "registering 131072 bytes of memory with mlx5_0: ENOMEM (Cannot allocate memory)\n"
            "  the limit of locked memory is 64 KiB: raise it with `ulimit -l unlimited` (pods: capability "
            "IPC_LOCK; "
            "services: LimitMEMLOCK=infinity), or measure smaller sizes with --max-size or --size");
  EXPECT_EQ(registration_failed(ENOMEM, 131072, RLIM_INFINITY, "mlx5_0").hint,
            "the memory cannot be pinned: a container's memory limit, or the device's limit of regions");
  EXPECT_EQ(registration_failed(EFAULT, 131072, 65536, "mlx5_0").hint, "");
}

PortFacts port(int number, ibv_port_state state, bool is_infiniband) {
  return {.number = number, .state = state, .is_infiniband = is_infiniband, .lid = 0, .mtu_bytes = 0, .gids = {}};
}

TEST(VerbsErrors, ReportAPortWithoutLinkFromOneWithoutSubnetManager) {
  EXPECT_EQ(port_down("rxe0", port(1, IBV_PORT_DOWN, false)).to_string(),
            "rxe0 port 1 is DOWN, not ACTIVE\n"
            "  bring its network interface up (`ip link set NAME up`) and check the cable and the switch port");
  EXPECT_EQ(port_down("mlx5_0", port(1, IBV_PORT_INIT, true)).to_string(),
            "mlx5_0 port 1 is INIT, not ACTIVE\n"
            "  the link is up but no subnet manager has configured it: check `sminfo`, and the VF's GUID and "
            "link state");
  EXPECT_EQ(port_down("mlx5_0", port(2, IBV_PORT_DOWN, true)).hint,
            "check the cable, and for a VF its link state (`ip link set PF vf N state enable`)");
}

TEST(VerbsErrors, ExplainWhyAPeerCannotBeReached) {
  const QueuePairPath path{.remote_gid = IpAddress::parse("10.2.0.9")->to_gid(), .gid_index = 3};
  EXPECT_EQ(connect_failed(ENETUNREACH, "RTR", path, "rxe0").to_string(),
            "bringing a queue pair of rxe0 to RTR toward GID 10.2.0.9: ENETUNREACH (Network is unreachable)\n"
            "  no route to GID 10.2.0.9 from the interface of GID 3: rails are separate networks, so both "
            "ends must be "
            "on the same one; `ip route get` shows the way");
  EXPECT_EQ(connect_failed(ETIMEDOUT, "RTR", path, "rxe0").hint,
            "no ARP or ND reply for GID 10.2.0.9; check that the peer's interface is up and on the same network");
  EXPECT_EQ(connect_failed(EINVAL, "RTR", path, "rxe0").hint,
            "local GID 3 may be removed, belong to another network namespace, or differ in family or RoCE version from "
            "the peer's; use --gid-rule auto");
  const QueuePairPath by_lid{.remote_lid = 81, .is_global = false};
  EXPECT_EQ(connect_failed(EIO, "RTS", by_lid, "mlx5_0").message,
            "bringing a queue pair of mlx5_0 to RTS toward LID 81: EIO (Input/output error)");
}

TEST(VerbsErrors, ExplainFailedWrites) {
  EXPECT_EQ(completion_failed(IBV_WC_RETRY_EXC_ERR, "RDMA write", "rxe0").to_string(),
            "RDMA write on rxe0: transport retry counter exceeded\n"
            "  the peer's NIC did not acknowledge: the peer exited, its GID or path MTU is wrong, or UDP port 4791 is "
            "dropped on the path (firewall, VLAN, PFC)");
  EXPECT_EQ(completion_failed(IBV_WC_REM_ACCESS_ERR, "RDMA write", "rxe0").hint,
            "the peer refused it: it moved on to another test, or its memory is no longer registered");
  EXPECT_EQ(completion_failed(IBV_WC_WR_FLUSH_ERR, "RDMA write", "rxe0").hint,
            "the queue pair is already in the error state; see the first error");
}

TEST(MtuCode, RoundsDownToWhatInfiniBandKnows) {
  EXPECT_EQ(mtu_code(256), IBV_MTU_256);
  EXPECT_EQ(mtu_code(1024), IBV_MTU_1024);
  EXPECT_EQ(mtu_code(1500), IBV_MTU_1024);
  EXPECT_EQ(mtu_code(4096), IBV_MTU_4096);
  EXPECT_EQ(mtu_code(65536), IBV_MTU_4096);
}

TEST(VerbsErrors, SayWhatIsBetweenANicAndAGpu) {
  EXPECT_EQ(
      gpu_registration_failed(EOPNOTSUPP, "GPU 0 (NVIDIA H200) by DMA-BUF", "mlx5_0").to_string(),
      "registering the memory of GPU 0 (NVIDIA H200) by DMA-BUF with mlx5_0: EOPNOTSUPP (Operation not supported)\n"
      "  its driver, or libibverbs (34 and newer have it), does not support DMA-BUF; measure with --memory host");
  EXPECT_EQ(gpu_registration_failed(EFAULT, "GPU 0", "mlx5_0").hint,
            "the NIC must reach the GPU over PCIe: IOMMU and ACS may prevent it; measure with --memory host");
}

TEST(Pacing, KeepsTheQueueFullOfSmallWritesAndShortOfLargeOnes) {
  EXPECT_EQ(pacing_for(2, 128), (Pacing{.depth = 128, .batch = 32}));
  EXPECT_EQ(pacing_for(2, 1024), (Pacing{.depth = 1024, .batch = 100}));
  EXPECT_EQ(pacing_for(4096, 128), (Pacing{.depth = 128, .batch = 16}));
  EXPECT_EQ(pacing_for(65536, 128), (Pacing{.depth = 128, .batch = 1}));
  EXPECT_EQ(pacing_for(8 << 20, 128), (Pacing{.depth = 2, .batch = 1}));
  EXPECT_EQ(pacing_for(64 << 20, 128), (Pacing{.depth = 2, .batch = 1}));
  EXPECT_EQ(pacing_for(64 << 20, 1), (Pacing{.depth = 1, .batch = 1}));
  EXPECT_EQ(pacing_for(2, 1), (Pacing{.depth = 1, .batch = 1}));
  EXPECT_EQ(pacing_for(2, 128, 1), (Pacing{.depth = 128, .batch = 1}));
  EXPECT_EQ(pacing_for(2, 128, 64), (Pacing{.depth = 128, .batch = 64}));
  EXPECT_EQ(pacing_for(8 << 20, 128, 64), (Pacing{.depth = 2, .batch = 2}));
}

TEST(PingAfter, NeverMeetsTheLastPingOrTheClearedByte) {
  uint8_t value = 0;
  for (int i = 0; i < 1000; ++i) {
    value = ping_after(value);
    EXPECT_NE(value, 0);
    EXPECT_NE(value, kLastPing);
  }
}

}  // namespace
}  // namespace railbed::perf
