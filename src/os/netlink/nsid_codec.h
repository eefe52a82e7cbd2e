// SPDX-License-Identifier: Apache-2.0
// rtnetlink's messages about the numbers of namespaces, as bytes.
//
// Why: see NetnsPort::numbers(): a namespace without a number has ended.
// Threading: pure functions.
// Failure: messages that cannot be decoded return nothing.
// Source: linux/net_namespace.h.
#pragma once

#include <optional>

#include "os/ports/netlink_message.h"
#include "os/ports/netns.h"

namespace railbed::os {

NetlinkRequest encode_nsid_of(int netns_fd);
NetlinkRequest encode_give_nsid(int netns_fd);
NetlinkRequest encode_list_nsids();

// Nothing for a namespace that has no number.
std::optional<Nsid> decode_nsid(const NetlinkMessage& message);

}  // namespace railbed::os
