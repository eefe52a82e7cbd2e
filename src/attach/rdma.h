// SPDX-License-Identifier: Apache-2.0
// The RDMA side of a VF: its device, its files, and the name of a soft one.
// Threading: pure except for reading sysfs.
// Failure: none; what does not exist is empty.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"
#include "os/ports/rdma_files.h"

namespace railbed::attach {

// The files that programs open for several RDMA devices: those of os::char_devices() without management datagrams.
std::vector<std::string> char_devices(const os::FileTree& files, const std::vector<std::string>& rdma);

// The reason why these cannot be opened: their files or those of the connection manager are missing. Empty: they can.
std::string cannot_open(const os::FileTree& files, const std::string& rdma,
                        const std::vector<std::string>& char_devices);

// The soft device on a VF, unique on this machine: "rxe01v3" is on VF 3 of PF 0000:01:00.0; the PF's device,
// function and domain appear where they are not 0 ("rxe01f1v3").
std::string soft_rdma_name(PciAddress pf, VfIndex vf);

}  // namespace railbed::attach
