// SPDX-License-Identifier: Apache-2.0
// resolv.conf(5), as host-local's `resolvConf` reads it.
// Threading: pure.
// Failure: none; lines that cannot be parsed are skipped.
#pragma once

#include <string_view>

#include "cni/add_result.h"

namespace railbed::agent {

cni::Dns read_resolv_conf(std::string_view text);

}  // namespace railbed::agent
