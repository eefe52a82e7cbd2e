// SPDX-License-Identifier: Apache-2.0
// Why a sysctl does not exist in a pod.
//
// Why: in a network namespace that belongs to another user namespace than the machine's first one (hostUsers: false)
// kernels omit tables of sysctls, different ones in each version. "No such file" then does not describe the kernel.
// Threading: as NetnsPort.
// Failure: none; if the cause is unknown, the reason is the general one.
#pragma once

#include <string>

#include "os/ports/netns.h"

namespace railbed::attach {

// For the error of a sysctl that was not found: what may be done about it.
std::string missing_sysctl_hint(os::NetnsPort& port, const os::Netns& netns, const std::string& key);

// The same result, with that hint where the sysctl does not exist.
template <typename T>
Result<T> with_sysctl_hint(Result<T> done, os::NetnsPort& port, const os::Netns& netns, const std::string& key) {
  if (done.has_value() || done.error().code != Code::kNotFound) return done;
  return std::move(done).hint(missing_sysctl_hint(port, netns, key));
}

}  // namespace railbed::attach
