// SPDX-License-Identifier: Apache-2.0
// The state of a PF and its VFs before railbed first changed them.
//
// Why here: apply reads it, state stores it and plan restores it; all three use the same type.
// Threading: a value.
// Failure: none.
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
