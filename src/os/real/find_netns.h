// SPDX-License-Identifier: Apache-2.0
// Finds the network namespaces of this machine.
//
// Why: /proc is not a list of the living namespaces. Between two containers of its pod a namespace has no process: a
// mount holds it, perhaps in the runtime's own mount namespace, or a descriptor. So four places are searched: folders
// with names, /proc/PID/ns/net, mounts of each mount namespace, and last, because there are many, descriptors of
// processes. Nothing is looked up twice: each opened file is identified through its descriptor, and that descriptor is
// passed on.
//
// Threading: any thread.
// Failure: Io, Denied: something that may be a namespace cannot be opened, so that "not found" would claim too much;
// what ended in the meantime is skipped, and so are processes that have more rights than this one.
// Source: namespaces(7), proc_pid_mountinfo(5), nsfs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "os/real/descriptor.h"

namespace railbed::os {

// Of what was opened: whether to look on.
using VisitFound = std::function<Result<bool>(Descriptor netns, const std::string& where)>;

// May visit a namespace more than once.
Result<void> find_netns(const std::vector<std::string>& folders, const VisitFound& visit);

// Whether the descriptor is of a network namespace.
bool is_network_namespace(int fd);

// The path of a mount of nsfs in a line of /proc/PID/mountinfo; empty for other lines.
std::string nsfs_mount_in(std::string_view line);

}  // namespace railbed::os
