// SPDX-License-Identifier: Apache-2.0
// The RdmaPort that uses the kernel; see rdma.h.
#pragma once

#include <memory>

#include "os/ports/rdma.h"

namespace railbed::os {

// Its socket is in `inside`, which must outlive it, or in the caller's namespace when that is null.
Result<std::unique_ptr<RdmaPort>> real_rdma(const Netns* inside = nullptr);

}  // namespace railbed::os
