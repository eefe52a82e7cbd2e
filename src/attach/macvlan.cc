// SPDX-License-Identifier: Apache-2.0
// Type macvlan: an interface with its own MAC on top of one of the host's.
//
// Keys: master (absent: the interface of the default route), mode, mtu, mac.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_macvlan(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  wish.way = Way::kMake;
  if (TRY(keys.boolean("linkInContainer")).value_or(false))
    return fail(keys.unsupported("linkInContainer is not supported: master is an interface of the host"));
  wish.host_link = TRY(keys.text("master")).value_or("");
  wish.mtu = TRY(keys.number("mtu", 0, 65535));
  wish.mac = TRY(keys.mac("mac"));
  size_t mode = TRY(keys.choice("mode", {"bridge", "private", "vepa", "passthru"})).value_or(0);
  wish.macvlan_mode = static_cast<os::MacvlanMode>(mode);
  return {};
}

}  // namespace railbed::attach
