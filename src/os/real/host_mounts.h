// SPDX-License-Identifier: Apache-2.0
// Moves a container's process to the host's mount namespace.
//
// Why: an agent in a pod reads, writes and executes files of the host's runtime, kubelet and plugins, at their paths:
// namespaces below /run/netns, plugins and their libraries, kernel modules. In the mount namespace of the host's first
// process all paths are the same as for an agent that was installed there, and no list of mounts has to be maintained.
// Programs that it executes are in that namespace, too.
// Threading: a process with one thread, before it opens anything (setns(2) refuses others).
// Failure: see below.
#pragma once

#include <string>

#include "base/error.h"

namespace railbed::os {

inline constexpr const char* kMountsOfHost = "/proc/1/ns/mnt";

// Invalid where `path` is this process's own mount namespace: in a pod without hostPID the first process is the
// container's own. Denied without CAP_SYS_ADMIN and CAP_SYS_CHROOT.
Result<void> enter_host_mounts(const std::string& path = kMountsOfHost);

// Returns in a child process. The caller's process stays behind in its own mount namespace until the child has ended,
// passes SIGTERM and SIGINT on, and ends as the child does; if it is killed, so is the child. Why: `kubectl exec`
// enters the namespaces of a container's first process, and must find the image there.
Result<void> continue_in_child();

// A path to the folder that stays valid in every mount namespace, for this process and as long as it runs. What is
// replaced inside the folder (a renewed token) is seen.
Result<std::string> keep_folder(const std::string& folder);

}  // namespace railbed::os
