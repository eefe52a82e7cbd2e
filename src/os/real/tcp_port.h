// SPDX-License-Identifier: Apache-2.0
// Whether a TCP address can be listened on, with the kernel's own reason where it cannot.
//
// Why: the library that serves metrics says nothing but that it failed. What is found out here may have changed a
// moment later; it makes an error message right, not a port ours. Threading: any thread. Failure: kConflict when
// somebody listens there, kNotFound for an address that is not this machine's, else the errno's code.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/ip.h"

namespace railbed::os {

Result<void> can_listen(const IpAddress& address, uint16_t port);

}  // namespace railbed::os
