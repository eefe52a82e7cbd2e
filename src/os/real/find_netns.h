// SPDX-License-Identifier: Apache-2.0
// Looking for the network namespaces of this machine.
//
// Why: /proc is not the list of living namespaces. One between two containers of its pod has no process: a mount holds
// it, in the runtime's own view of the file system perhaps, or a descriptor. So four places are looked at: folders with
// names, /proc/PID/ns/net, mounts of each mount namespace, and last, because there are many, descriptors of processes.
// Nothing is looked up twice: what is opened is asked for what it is, and that descriptor is handed on.
//
// Threading: any thread. Failure: Io, Denied: something that may be a namespace cannot be opened, so that "not found"
// would say too much; what ended meanwhile is passed over, and so are processes that have more rights than this one.
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
