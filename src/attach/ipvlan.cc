// SPDX-License-Identifier: Apache-2.0
// Type ipvlan: an interface with the MAC of the one below it.
//
// Keys: master (absent: the first interface of prevResult, else that of the default route), linkInContainer
// (the master is the pod's), mode (l2, l3, l3s), mtu.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_ipvlan(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  wish.way = Way::kMake;
  wish.master_in_pod = TRY(keys.boolean("linkInContainer")).value_or(false);
  if (wanted.selection.mac.present)
    return fail(keys.invalid("an ipvlan interface has the MAC address of its master; use macvlan"));
  wish.host_link = TRY(keys.text("master")).value_or("");
  if (wish.host_link.empty() && wanted.previous.has_value() && !wanted.previous->interfaces.empty())
    wish.host_link = wanted.previous->interfaces.front().name;
  wish.mtu = TRY(keys.number("mtu"));
  size_t mode = TRY(keys.choice("mode")).value_or(0);
  wish.ipvlan_mode = static_cast<os::IpvlanMode>(mode);
  return {};
}

Result<DetachReport> detach_original_ipvlan(Original& original) {
  return original.remove_made("ipvlan");
}

}  // namespace railbed::attach
