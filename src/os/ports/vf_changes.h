// SPDX-License-Identifier: Apache-2.0
// Settings of several VFs of one PF, in as few messages as possible.
//
// Why: after each message the kernel announces the PF again, with all its attributes. For 14 VFs, two messages and two
// writes to the state instead of 14 each were a tenth of what `railbed up` adds to the kernel's work.
// Threading: as LinkPort.
// Failure: the first refused setting ends it; those before it are applied. The error names only the PF: to find the VF,
// a caller applies the settings one by one.
// Source: linux/if_link.h, several IFLA_VF_INFO in IFLA_VFINFO_LIST.
#pragma once

#include <vector>

#include "os/ports/links.h"

namespace railbed::os {

struct VfSetting {
  VfIndex vf;
  VfChange change;
};

Result<void> change_vfs(LinkPort& links, IfIndex pf, const std::vector<VfSetting>& settings);

}  // namespace railbed::os
