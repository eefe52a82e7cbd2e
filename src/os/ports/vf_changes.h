// SPDX-License-Identifier: Apache-2.0
// Settings of several VFs of one PF, in as few messages as they fit into.
//
// Why: behind each message the kernel announces the PF with its statistics, and some cards are asked for those over the
// slow bus of their PHY: igb takes 4 ms for each VF's MAC, most of it for that. Threading: as LinkPort. Failure: the
// first setting that was refused ends it; those before it are made. The error names the PF alone: whoever wants to know
// which VF it was makes them one by one. Source: linux/if_link.h, several IFLA_VF_INFO in IFLA_VFINFO_LIST.
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
