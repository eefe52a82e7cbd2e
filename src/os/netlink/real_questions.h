// SPDX-License-Identifier: Apache-2.0
// The NetlinkQuestions that asks the kernel; see netlink_questions.h.
#pragma once

#include <memory>

#include "os/ports/netlink_questions.h"

namespace railbed::os {

// Opens a socket for each family when it is first asked.
std::unique_ptr<NetlinkQuestions> real_questions();

}  // namespace railbed::os
