// SPDX-License-Identifier: Apache-2.0
// What devlink has of a PCI device, and the change of its embedded switch.
//
// Why here: a value that only devlink has is a function over NetlinkQuestions with its codec below; the recording and
// the fake kernel have it at once.
// Threading: the port's; the codecs are pure functions.
// Failure: Unsupported if the driver has no devlink, or no eswitch (igb). Messages that cannot be decoded return
// nothing.
// Source: linux/devlink.h.
#pragma once

#include <optional>
#include <string>

#include "base/eswitch_mode.h"
#include "base/types.h"
#include "os/ports/netlink_questions.h"

namespace railbed::os {

Result<EswitchMode> eswitch_mode(NetlinkQuestions& kernel, PciAddress pf);
// The firmware version that `devlink dev info` reports as running; NotFound when the driver reports none.
Result<std::string> firmware_version(NetlinkQuestions& kernel, PciAddress pf);

// --- as bytes
NetlinkQuestion encode_get_eswitch(PciAddress device);
NetlinkQuestion encode_get_device_info(PciAddress device);
// A change, for the port in eswitch.h. `family` is the number of devlink on this kernel.
NetlinkRequest encode_set_eswitch(uint16_t family, PciAddress device, EswitchMode mode);

std::optional<EswitchMode> decode_eswitch(const NetlinkMessage& message);
// "fw.version" or "fw" among the running versions.
std::optional<std::string> decode_firmware(const NetlinkMessage& message);

}  // namespace railbed::os
