// SPDX-License-Identifier: Apache-2.0
// Type macvlan: an interface with its own MAC on top of another.
//
// Keys: master (absent: the interface of the default route), linkInContainer (the master is the pod's), mode,
// mtu, mac, bcqueuelen.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_macvlan(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  wish.way = Way::kMake;
  wish.master_in_pod = TRY(keys.boolean("linkInContainer")).value_or(false);
  wish.host_link = TRY(keys.text("master")).value_or("");
  wish.mtu = TRY(keys.number("mtu"));
  wish.mac = TRY(keys.mac("mac"));
  wish.broadcast_queue = TRY(keys.number("bcqueuelen"));
  if (wish.broadcast_queue == 0) wish.broadcast_queue.reset();
  size_t mode = TRY(keys.choice("mode")).value_or(0);
  wish.macvlan_mode = static_cast<os::MacvlanMode>(mode);
  return {};
}

Result<DetachReport> detach_original_macvlan(Original& original) {
  return original.remove_made("macvlan");
}

}  // namespace railbed::attach
