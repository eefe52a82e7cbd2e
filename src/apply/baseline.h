// SPDX-License-Identifier: Apache-2.0
// The state of a PF before its first change.
//
// Threading: any thread with its own LinkPort.
// Failure: the error of reading sysfs or the link; a PF without an interface (vfio-pci is its driver) has no MTU and is
// not up.
#pragma once

#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::apply {

Result<PfBaseline> read_baseline(os::Kernel& kernel, os::LinkPort& links, PciAddress pf, const std::string& pf_name);

}  // namespace railbed::apply
