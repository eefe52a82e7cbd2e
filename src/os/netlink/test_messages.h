// SPDX-License-Identifier: Apache-2.0
// For tests of the codecs. Only included by tests.
#pragma once

#include "os/netlink/netlink_message.h"

namespace railbed::os {

// The request's bytes as a message from the kernel.
inline NetlinkMessage as_message(const NetlinkRequest& request, uint16_t type) {
  return {type, {request.bytes().begin(), request.bytes().end()}};
}

}  // namespace railbed::os
