// SPDX-License-Identifier: Apache-2.0
// The embedded switch of a NIC, by devlink over generic netlink.
//
// Threading: one thread per port.
// Failure: Unsupported if the driver has no eswitch (igb) or the kernel no devlink.
// Source: linux/devlink.h, DEVLINK_CMD_ESWITCH_GET and _SET.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/eswitch_mode.h"
#include "base/types.h"

namespace railbed::os {

using railbed::EswitchMode;

class EswitchPort {
 public:
  virtual ~EswitchPort() = default;
  virtual Result<EswitchMode> mode(PciAddress pf) = 0;
  virtual Result<void> set_mode(PciAddress pf, EswitchMode mode) = 0;
  // The firmware version that `devlink dev info` reports as running; NotFound when the driver reports none.
  virtual Result<std::string> firmware(PciAddress pf) = 0;
};

}  // namespace railbed::os
