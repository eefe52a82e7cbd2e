// SPDX-License-Identifier: Apache-2.0
// Settings of several VFs of one PF, in as few messages as they fit into.
//
// Why: behind each message the kernel announces the PF anew, with all that it tells of an interface. For 14 VFs, two
// messages and two writes to the state instead of 14 each were a tenth of what `railbed up` adds to the kernel's work.
// Threading: as LinkPort. Failure: the first setting that was refused ends it; those before it are made. The error
// names the PF alone: whoever wants to know which VF it was makes them one by one. Source: linux/if_link.h, several
// IFLA_VF_INFO in IFLA_VFINFO_LIST.
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
