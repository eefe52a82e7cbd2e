// SPDX-License-Identifier: Apache-2.0
// How a PF and its VFs were before railbed first touched them.
//
// Why here: apply reads it, state keeps it and plan makes the way back from it; it is one thing on the whole way.
// Threading: a value. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/eswitch_mode.h"
#include "base/types.h"

namespace railbed {

struct VfBaseline {
  VfIndex index;
  std::string driver;  // empty: none was bound
  int mtu = 0;         // 0: its interface was not in this namespace
  std::optional<MacAddress> admin_mac;
  friend bool operator==(const VfBaseline&, const VfBaseline&) = default;
};

struct PfBaseline {
  PciAddress pf;
  std::string pf_name;
  int num_vfs = 0;
  bool autoprobe = true;
  int mtu = 0;  // 0: unknown, so it stays as it is
  bool up = true;
  std::optional<EswitchMode> eswitch_mode;  // absent: none
  std::vector<VfBaseline> vfs;              // by index; may be empty with num_vfs > 0: the VFs keep their drivers then
  friend bool operator==(const PfBaseline&, const PfBaseline&) = default;
};

}  // namespace railbed
