// SPDX-License-Identifier: Apache-2.0
// The EswitchPort that uses the kernel; see eswitch.h.
#pragma once

#include <memory>

#include "os/ports/eswitch.h"

namespace railbed::os {

Result<std::unique_ptr<EswitchPort>> real_eswitch();

}  // namespace railbed::os
