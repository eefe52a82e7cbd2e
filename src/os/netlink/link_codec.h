// SPDX-License-Identifier: Apache-2.0
// rtnetlink's messages about interfaces and their VFs, as bytes.
//
// Threading: pure functions.
// Failure: attributes that cannot be decoded are omitted from the value; a message that is not a link returns nothing.
// Source: linux/if_link.h.
#pragma once

#include <optional>
#include <span>

#include "os/ports/links.h"
#include "os/ports/netlink_message.h"
#include "os/ports/vf_changes.h"

namespace railbed::os {

NetlinkRequest encode_list_links(WithVfs vfs);
NetlinkRequest encode_find_link(const IfName& name, WithVfs vfs);
NetlinkRequest encode_find_link(IfIndex index, WithVfs vfs);
NetlinkRequest encode_change_link(IfIndex link, const LinkChange& change);
NetlinkRequest encode_change_vf(IfIndex pf, VfIndex vf, const VfChange& change);
NetlinkRequest encode_change_vfs(IfIndex pf, std::span<const VfSetting> settings);
NetlinkRequest encode_create_link(const NewLink& link);
NetlinkRequest encode_remove_link(IfIndex link);
NetlinkRequest encode_remove_group(uint32_t group);

std::optional<Link> decode_link(const NetlinkMessage& message);
// The interface that has left its namespace, from an announcement; a bridge that loses a port is none.
std::optional<IfIndex> decode_gone(const NetlinkMessage& message);

}  // namespace railbed::os
