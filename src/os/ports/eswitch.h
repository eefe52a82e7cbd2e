// SPDX-License-Identifier: Apache-2.0
// Changes the embedded switch of a NIC, by devlink over generic netlink; eswitch_mode() of netlink/devlink.h reads it.
//
// Threading: one thread per port.
// Failure: Unsupported if the driver has no eswitch (igb) or the kernel no devlink.
// Source: linux/devlink.h, DEVLINK_CMD_ESWITCH_SET.
#pragma once

#include <memory>

#include "base/error.h"
#include "base/eswitch_mode.h"
#include "base/types.h"

namespace railbed::os {

using railbed::EswitchMode;

class EswitchPort {
 public:
  virtual ~EswitchPort() = default;
  virtual Result<void> set_mode(PciAddress pf, EswitchMode mode) = 0;
};

}  // namespace railbed::os
