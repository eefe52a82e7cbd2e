// SPDX-License-Identifier: Apache-2.0
#include "command/privileges.h"

namespace railbed {

std::vector<std::string> missing_capabilities(os::Kernel& kernel) {
  return kernel.processes().missing_capabilities({"CAP_DAC_OVERRIDE", "CAP_NET_ADMIN", "CAP_SYS_ADMIN"});
}

}  // namespace railbed
