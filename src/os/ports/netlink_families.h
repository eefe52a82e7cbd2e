// SPDX-License-Identifier: Apache-2.0
// The netlink families that can be asked (netlink_questions.h): an enumerator and a row for each.
//
// Why: a question must not change anything. So a row has the commands that only read, and a question with another
// command does not compile. Commands that read, but make the kernel load a module or write a dump, are not in it.
// Threading: constants.
// Failure: none.
// Source: linux/devlink.h, rdma/rdma_netlink.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include <linux/devlink.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

namespace railbed::os {

enum class NetlinkFamily : uint8_t { kDevlink, kRdma };

struct NetlinkFamilyRow {
  std::string_view name;  // in recordings; with NETLINK_GENERIC also the kernel's name for it
  int protocol;
  std::span<const uint16_t> reads;  // commands of a generic family, otherwise types of messages

  constexpr bool is_generic() const { return protocol == NETLINK_GENERIC; }
};

inline constexpr uint16_t kDevlinkReads[] = {
    DEVLINK_CMD_GET,       DEVLINK_CMD_PORT_GET, DEVLINK_CMD_ESWITCH_GET,
    DEVLINK_CMD_PARAM_GET, DEVLINK_CMD_INFO_GET, DEVLINK_CMD_HEALTH_REPORTER_GET,
    DEVLINK_CMD_RATE_GET,
};
inline constexpr uint16_t kRdmaReads[] = {
    RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),      RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET),
    RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET),  RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET),
    RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET),
};

// In the order of NetlinkFamily.
inline constexpr NetlinkFamilyRow kNetlinkFamilies[] = {
    {"devlink", NETLINK_GENERIC, kDevlinkReads},
    {"rdma", NETLINK_RDMA, kRdmaReads},
};

constexpr const NetlinkFamilyRow& row_of(NetlinkFamily family) {
  return kNetlinkFamilies[static_cast<size_t>(family)];
}

constexpr bool only_reads(NetlinkFamily family, uint16_t command) {
  const std::span<const uint16_t> reads = row_of(family).reads;
  return std::find(reads.begin(), reads.end(), command) != reads.end();
}

}  // namespace railbed::os
