// SPDX-License-Identifier: Apache-2.0
// The LinkPort that speaks to the kernel; see links.h.
#pragma once

#include <memory>

#include "os/ports/links.h"

namespace railbed::os {

// Its socket is in `inside`, or in the caller's namespace when that is null.
Result<std::unique_ptr<LinkPort>> real_links(const Netns* inside = nullptr);

}  // namespace railbed::os
