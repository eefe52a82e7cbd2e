// SPDX-License-Identifier: Apache-2.0
// Generic netlink's family lookup and devlink's messages about the embedded switch, as bytes.
//
// Threading: pure functions.
// Failure: messages that cannot be decoded return nothing.
// Source: linux/genetlink.h, linux/devlink.h.
#pragma once

#include <optional>
#include <string>

#include "os/netlink/netlink_message.h"
#include "os/ports/eswitch.h"

namespace railbed::os {

NetlinkRequest encode_find_family(const std::string& name);
NetlinkRequest encode_get_eswitch(uint16_t family, PciAddress device);
NetlinkRequest encode_set_eswitch(uint16_t family, PciAddress device, EswitchMode mode);
NetlinkRequest encode_get_device_info(uint16_t family, PciAddress device);

std::optional<uint16_t> decode_family(const NetlinkMessage& message);
std::optional<EswitchMode> decode_eswitch(const NetlinkMessage& message);
// "fw.version" or "fw" among the running versions.
std::optional<std::string> decode_firmware(const NetlinkMessage& message);

}  // namespace railbed::os
