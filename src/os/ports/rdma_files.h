// SPDX-License-Identifier: Apache-2.0
// The sysfs data about the RDMA devices of one device, and the files that programs open for them.
//
// Why here: a pod's VF is looked up individually, both when the kubelet allocates it and when it is attached; the facts
// of a whole machine would be too much to read for that.
// Threading: any thread.
// Failure: none; what does not exist is empty.
#pragma once

#include <string>
#include <vector>

#include "os/ports/file_tree.h"

namespace railbed::os {

// The RDMA devices of a device; `path` is its folder in sysfs.
std::vector<std::string> rdma_devices(const FileTree& files, const std::string& path);

// "/dev/infiniband/uverbs0" of an RDMA device, and "/dev/infiniband/umad0" if `mad`. Who may open the second can send
// management datagrams to the fabric; no pod gets issm0, which says that a subnet manager is here.
enum class Mad : bool { kNo, kYes };
std::vector<std::string> char_devices(const FileTree& files, const std::string& rdma, Mad mad);

inline constexpr const char* kConnectionManager = "/dev/infiniband/rdma_cm";

}  // namespace railbed::os
