// SPDX-License-Identifier: Apache-2.0
#include "attach/missing_sysctl.h"

namespace railbed::attach {

std::string missing_sysctl_hint(os::NetnsPort& port, const os::Netns& netns, const std::string& key) {
  const Result<bool> of_initial = port.is_of_initial_user(netns);
  if (of_initial.value_or(true)) return "check that this kernel has that sysctl";
  return fmt::format(
      "the pod has its own user namespace (hostUsers: false), and this kernel does not show {} in its network namespace; "
      "remove it from the tuning plugin, or set hostUsers: true",
      key);
}

}  // namespace railbed::attach
