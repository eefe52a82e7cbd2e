// SPDX-License-Identifier: Apache-2.0
// A kernel uevent as bytes: "add@/devices/…", then "KEY=value" strings, each terminated by a zero byte.
//
// Threading: pure.
// Failure: nothing for a message that is not a kernel uevent (udev's own messages begin with "libudev").
#pragma once

#include <optional>
#include <string_view>

#include "os/ports/uevents.h"

namespace railbed::os {

std::optional<Uevent> parse_uevent(std::string_view datagram);

}  // namespace railbed::os
