// SPDX-License-Identifier: Apache-2.0
// The messages of RDMA's netlink (nldev) as bytes.
//
// Threading: pure functions.
// Failure: a message that is not a device or port returns nothing; attributes that old kernels do not send stay empty.
// Source: rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c.
#pragma once

#include <optional>

#include "os/ports/netlink_message.h"
#include "os/ports/rdma.h"

namespace railbed::os {

NetlinkRequest encode_list_rdma_devices();
NetlinkRequest encode_list_rdma_ports(uint32_t device);
NetlinkRequest encode_rdma_netns_mode();
NetlinkRequest encode_create_soft_rdma(const std::string& type, const std::string& name, const IfName& netdev);
NetlinkRequest encode_remove_soft_rdma(uint32_t device);
NetlinkRequest encode_move_rdma(uint32_t device, int netns_fd);

std::optional<RdmaLink> decode_rdma_device(const NetlinkMessage& message);  // without its ports
std::optional<RdmaLinkPort> decode_rdma_port(const NetlinkMessage& message);
std::optional<RdmaNetnsMode> decode_rdma_netns_mode(const NetlinkMessage& message);

}  // namespace railbed::os
