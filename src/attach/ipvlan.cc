// SPDX-License-Identifier: Apache-2.0
// Type ipvlan: an interface with the MAC of the host's below it.
//
// Keys: master (absent: the interface of the default route), mode (l2, l3, l3s), mtu.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_ipvlan(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  wish.way = Way::kMake;
  if (TRY(keys.boolean("linkInContainer")).value_or(false))
    return fail(keys.unsupported("linkInContainer is not supported: master is an interface of the host"));
  if (wanted.selection.mac.present)
    return fail(keys.invalid("an ipvlan interface has the MAC address of its master; use macvlan"));
  wish.host_link = TRY(keys.text("master")).value_or("");
  wish.mtu = TRY(keys.number("mtu", 0, 65535));
  size_t mode = TRY(keys.choice("mode", {"l2", "l3", "l3s"})).value_or(0);
  wish.ipvlan_mode = static_cast<os::IpvlanMode>(mode);
  return {};
}

}  // namespace railbed::attach
