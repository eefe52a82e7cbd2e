// SPDX-License-Identifier: Apache-2.0
// Names of capabilities and their numbers.
// Threading: pure.
// Failure: none.
// Source: linux/capability.h.
#pragma once

#include <optional>
#include <string_view>

namespace railbed::os {

// 12 for "CAP_NET_ADMIN"; nothing for a name that it does not know.
std::optional<unsigned> capability_number(std::string_view name);

}  // namespace railbed::os
