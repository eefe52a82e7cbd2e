// SPDX-License-Identifier: Apache-2.0
// The LinkPort that uses the kernel; see links.h.
#pragma once

#include <memory>

#include "os/ports/links.h"

namespace railbed::os {

class SenderThreads;

// Its socket is in `inside`, or in the caller's namespace when that is null. With `threads`, which must outlive the
// port, removals end as soon as the interfaces are gone for everybody; without, when the kernel has freed them.
Result<std::unique_ptr<LinkPort>> real_links(const Netns* inside = nullptr, SenderThreads* threads = nullptr);

}  // namespace railbed::os
